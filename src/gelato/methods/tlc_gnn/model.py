"""TLC-GNN as a method, and its network."""

from typing import ClassVar

import torch
from scipy.sparse import csr_array
from torch import Tensor, nn
from torch.nn.functional import leaky_relu

from gelato.errors import InputError
from gelato.graph import Graph
from gelato.methods.tlc_gnn.images import PIXELS, VicinityImages, image_key
from gelato.methods.tlc_gnn.settings import TlcGnnSettings
from gelato.methods.tlc_gnn.workload import Sides
from gelato.networks.pairwise.masked_graph import MaskedGraph
from gelato.networks.pairwise.network import Context, PairNetwork, layer_on_products
from gelato.networks.pairwise.predictor import PairPredictor
from gelato.networks.pairwise.task import PairTask
from gelato.scores import Scores
from gelato.splits import Split
from gelato.torch_ops.gather import take_rows
from gelato.torch_ops.layers import apply_dropout

SLOPE = 0.2
"""Of LeakyReLU below 0."""

RADIUS = 2.0
"""Distance at which a link is as likely as not."""


class TlcGnnNetwork(PairNetwork):
    """``s_uv = 2 - |w · LeakyReLU(W [(h_u - h_v)^2 ; I_uv] + b) + c|``, the log-odds of a Fermi-Dirac decoder.

    TLC-GNN (Yan et al., ICML 2021). ``H = relu(Â drop(relu(Â drop(X) W_1 + b_1)) W_2 + b_2)``, its rows shortened to
    at most 1, and ``I_uv`` the persistence image of the vicinity graph of a pair, 0 for far pairs.

    An image never depends on the link of its own pair, and is one of the whole graph that is learned from: other links
    of a step, which are masked for the convolutions, count in it, as all links do when the model is applied. Weights
    of links count in the convolutions only, not in images.
    """

    balanced: ClassVar[bool] = False
    settings: TlcGnnSettings

    def __init__(self, graph: Graph, settings: TlcGnnSettings) -> None:
        super().__init__(graph, settings)
        self.dropout, h = settings.dropout, settings.width
        shapes = (self.inputs, settings.hidden), (settings.hidden, h)
        self.weights = nn.ParameterList(nn.init.xavier_uniform_(torch.empty(shape)) for shape in shapes)
        self.biases = nn.ParameterList(torch.zeros(width) for _, width in shapes)
        self.of_squares = nn.Parameter(torch.empty(PIXELS, h))
        self.of_pixels = nn.Parameter(torch.empty(PIXELS, PIXELS))
        self.bias = nn.Parameter(torch.zeros(PIXELS))
        self.last = nn.Linear(PIXELS, 1)
        drawn = nn.init.xavier_normal_(torch.empty(PIXELS, h + PIXELS))
        with torch.no_grad():
            self.of_squares.copy_(drawn[:, :h])
            self.of_pixels.copy_(drawn[:, h:])
        nn.init.xavier_normal_(self.last.weight)
        nn.init.zeros_(self.last.bias)
        self.width = 4 * PIXELS
        self._links: csr_array = graph.pattern
        self._sides: Sides = graph.sides
        self._images: VicinityImages | None = None

    def images_of(self, adjacency: csr_array, sides: Sides, threads: int | None) -> VicinityImages:
        """The images of a graph, made anew unless they are those that were asked for last."""
        hops = self.settings.hops
        if self._images is None or self._images.key != image_key(adjacency, hops, sides):
            self._images = VicinityImages.of(adjacency, hops, sides, threads)
        return self._images

    def own_images(self) -> VicinityImages:
        """The images of the graph that the network was made for."""
        return self.images_of(self._links, self._sides, self.settings.threads)

    def context(self, view: MaskedGraph, random: torch.Generator | None = None) -> Context:
        """``(n, h)`` embeddings from ``view``, and images: in training those of the whole graph, else of ``view``."""
        dropout = self.dropout if self.training else 0.0
        (first, second), (b, c) = self.weights, self.biases
        h = (view.step @ view.inputs(first, dropout, random) + b).relu()
        h = (view.step @ (apply_dropout(h, dropout, self.training, random) @ second) + c).relu()
        H = h * (h * h).sum(1, keepdim=True).clamp(min=1).rsqrt()
        own, threads = self.training, self.settings.threads
        images = self.own_images() if own else self.images_of(view.adjacency, view.sides, threads)
        return Context(view, {"H": H}, {"images": images.on(view.device, view.dtype)})

    def forward(self, context: Context, u: Tensor, v: Tensor, random: torch.Generator | None = None) -> Tensor:
        """``(1, p)`` log-odds of listed pairs."""
        H, images = context.tensors["H"], context.constants["images"]
        squares = (take_rows(H, u) - take_rows(H, v)) ** 2
        return self._odds(squares @ self.of_squares.T + self.bias, *images.listed(u, v))[None]

    def block(self, context: Context, rows: Tensor, columns: Tensor) -> Tensor:
        """``(b, c)`` log-odds, with ``W (h_u - h_v)^2 = W h_u^2 + W h_v^2 - 2 W (h_u ∘ h_v)``."""
        H, W, images = context.tensors["H"], self.of_squares, context.constants["images"]
        single = (H * H) @ W.T
        bias = single[rows][:, None] + (single[columns] + self.bias)
        hidden = layer_on_products(-2 * W, bias, H[rows], H[columns]).flatten(0, 1)
        return self._odds(hidden, *images.block(rows, columns)).view(len(rows), len(columns))

    def _odds(self, hidden: Tensor, which: Tensor, pixels: Tensor) -> Tensor:
        """``(p,)`` log-odds of ``(p, 25)`` hidden units that lack the images of some of them."""
        hidden = hidden.index_add(0, which, pixels @ self.of_pixels.T)
        distance: Tensor = self.last(leaky_relu(hidden, SLOPE)).squeeze(1)
        return RADIUS - distance.abs()


class TLCGNN(PairPredictor):
    """Topological loop-counting graph neural network: see ``TlcGnnNetwork``."""

    Settings = TlcGnnSettings
    Network = TlcGnnNetwork
    method = "tlc-gnn"

    def check_graph(self, graph: Graph) -> None:
        """Refuse one hop on bipartite graphs, where the two balls of a pair across the sides never meet."""
        super().check_graph(graph)
        assert isinstance(self.settings, TlcGnnSettings)
        if graph.sides is not None and self.settings.hops == 1:
            raise InputError(
                "tlc-gnn with hops=1 has no image of any pair of a bipartite graph, as nodes of different sides have"
                " no common neighbour; set hops to 2"
            )

    def task(self, network: PairNetwork, split: Split, settings: TlcGnnSettings) -> PairTask:
        """Training, and the images before it: no epoch takes longer than another."""
        assert isinstance(network, TlcGnnNetwork)
        task = super().task(network, split, settings)  # which refuses splits that nothing can be learned from
        network.own_images()
        return task

    def scores_of(self, network: PairNetwork, graph: Graph) -> Scores:
        assert isinstance(network, TlcGnnNetwork)
        network.check(graph)
        # kept for all scores, which are made of copies of the network
        network.images_of(graph.pattern, graph.sides, self.threads)
        return super().scores_of(network, graph)
