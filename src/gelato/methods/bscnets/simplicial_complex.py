"""Simplicial complexes of graphs: links and triangles, their boundaries, and Hodge Laplacians, all of them sparse."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from gelato.graph import Pairs, pair_keys
from gelato.networks.pairwise.node_keys import Words, mixed_words

Triangles = NDArray[np.int64]


@dataclass(frozen=True)
class SimplicialComplex:
    """Nodes, some links between them, and the triangles that these close.

    A link goes from its first node to its second one.

    Attributes:
        n: number of nodes.
        links: ``(e, 2)`` each link once, in one of its directions.

    Example:
        >>> square = SimplicialComplex(4, np.array([[0, 1], [1, 2], [2, 3], [3, 0]]))
        >>> square.triangles.shape, square.lower.toarray()[0].tolist()
        ((0, 3), [2.0, -1.0, 0.0, -1.0])
    """

    n: int
    links: Pairs

    @cached_property
    def triangles(self) -> Triangles:
        """``(t, 3)`` nodes ``u < v < w`` that are linked to one another."""
        u, v, _ = self._ascending.T
        ends = np.column_stack([u, v])
        first = np.searchsorted(u, np.arange(self.n + 1))
        lengths = first[v + 1] - first[v]  # links (v, w) that follow a link (u, v)
        path = np.repeat(np.arange(len(u)), lengths)
        third = v[np.arange(len(path)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + first[v[path]]]
        closed = np.isin(pair_keys(np.column_stack([u[path], third]), self.n), pair_keys(ends, self.n))
        return np.column_stack([u[path], v[path], third])[closed]

    @cached_property
    def _ascending(self) -> NDArray[np.int64]:
        """``(e, 3)`` both nodes ``u < v`` of each link, and which link it is, by the nodes."""
        u, v = self.links.min(axis=1), self.links.max(axis=1)
        order = np.lexsort((v, u))
        return np.column_stack([u, v, np.arange(len(u))])[order]

    @cached_property
    def ends(self) -> csr_array:
        """``B_1 (n, e)``: a link has ``-1`` at its first node and ``1`` at its second one."""
        e = len(self.links)
        signs = np.repeat([-1.0, 1.0], e)
        return csr_array((signs, (self.links.T.ravel(), np.tile(np.arange(e), 2))), shape=(self.n, e))

    @cached_property
    def sides(self) -> csr_array:
        """``B_2 (e, t)``: a triangle ``u < v < w`` has ``1`` at links along ``u, v, w, u``, ``-1`` at the others."""
        u, v, w = self.triangles.T
        t, ascending = len(u), self._ascending
        keys = pair_keys(ascending[:, :2], self.n)
        links, signs = [], []
        for ends, sign in (((u, v), 1.0), ((v, w), 1.0), ((u, w), -1.0)):
            link = ascending[np.searchsorted(keys, pair_keys(np.column_stack(ends), self.n)), 2]
            links.append(link)
            signs.append(np.where(self.links[link, 0] == ends[0], sign, -sign))
        places = np.concatenate(links), np.tile(np.arange(t), 3)
        return csr_array((np.concatenate(signs), places), shape=(len(self.links), t))

    @property
    def lower(self) -> csr_array:
        """``B_1^T B_1 (e, e)``: how links meet at nodes."""
        return csr_array(self.ends.T @ self.ends)

    @property
    def normalized(self) -> csr_array:
        """``D_2 B_1^T D_1^+ B_1 + B_2 D_3 B_2^T D_2^-1 (e, e)``, the Hodge Laplacian of a random walk on links.

        ``D_2`` holds the triangles at each link, and 1 where there are none; ``D_1 = 2 diag(|B_1| D_2 1)``, whose
        pseudoinverse is 0 at nodes without links; ``D_3 = I / 3`` (Schaub et al., SIAM Review 2020).
        """
        B1, B2 = self.ends, self.sides
        of_links = np.maximum(abs(B2).sum(axis=1), 1)
        of_nodes = 2 * (abs(B1) @ of_links)
        inverse = np.divide(1, of_nodes, out=np.zeros(self.n), where=of_nodes > 0)
        down = diags_array(of_links) @ B1.T @ diags_array(inverse) @ B1
        return csr_array(down + B2 @ B2.T @ diags_array(1 / (3 * of_links)))


def sampled_links(edges: Pairs, keys: Words, slots: int, seed: int) -> tuple[Pairs, NDArray[np.int64]]:
    """Links that are dealt to slots as if by chance, one for each slot at most, and their slots, ascending.

    Where a link falls depends on the keys of its nodes and the seed alone, neither on the order of the nodes nor on
    other links; of several in one slot, the one of the least hash is taken. A link goes from the node of the smaller
    key to the other one. Links between nodes of the same keys have the same slot and hash; the first of them counts,
    and between equal keys a link goes as it is given.

    Args:
        edges: ``(m, 2)``.
        keys: ``(n,)`` of the nodes.
        slots: how many there are.
        seed: of the draw.

    Example:
        >>> edges = np.array([[0, 1], [1, 2], [0, 2]])
        >>> keys = mixed_words(np.arange(3))
        >>> links, slot = sampled_links(edges, keys, 10**6, 0)
        >>> rest, kept = sampled_links(edges[1:], keys, 10**6, 0)
        >>> len(links), set(kept) < set(slot)
        (3, True)
    """
    of_ends = keys[edges]
    turned = of_ends[:, 0] > of_ends[:, 1]
    links = np.where(turned[:, None], edges[:, ::-1], edges)
    chance = mixed_words(of_ends.sum(axis=1, dtype=np.uint64) ^ mixed_words(np.array([seed])))
    slot = (chance % np.uint64(slots)).astype(np.int64)
    order = np.lexsort((chance, slot))
    slot, first = np.unique(slot[order], return_index=True)
    return links[order[first]], slot
