"""Consumer: of a tile of scores those that could be among the best, for the buffer on the host."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gelato.kernels.pair_mask import BACKWARD, EITHER
from gelato.kernels.top_buffer import ScoreLimits, TopBuffer, tie_window
from gelato.kernels.top_pairs import top_listed, top_listed_per_row

SPARE = 1 << 16
"""How many pairs go to the host before the device looks for the best of them."""


@dataclass(frozen=True, eq=False)
class TileSearch:
    """A tile of a search.

    Attributes:
        score: ``(c, b)`` raw scores, columns by rows.
        counted: ``(c, b)`` which of them are asked for.
        row, column: ``(b,)`` and ``(c,)`` names of nodes.
        n: number of nodes.
        turn: how a pair lists its row and its column.
    """

    score: Tensor
    counted: Tensor
    row: Tensor
    column: Tensor
    n: int
    turn: int

    def keys(self, column: Tensor, row: Tensor) -> Tensor:
        """Keys of the pairs at some places."""
        return pair_name_keys(self.row[row], self.column[column], self.n, self.turn)


def pair_name_keys(row: Tensor, column: Tensor, n: int, turn: int) -> Tensor:
    """Keys of ``(p,)`` pairs, by the names of their nodes."""
    if turn == BACKWARD:
        row, column = column, row
    elif turn == EITHER:
        row, column = torch.minimum(row, column), torch.maximum(row, column)
    return row * n + column


def offer_tile(tile: TileSearch, best: TopBuffer) -> None:
    """Offer the pairs of a tile that may be among the best."""
    column, row = (tile.counted & _allowed(tile.score, best.limits, float(best.cut[0]))).nonzero(as_tuple=True)
    offer_list(tile.score[column, row], tile.keys(column, row), best)


def offer_list(score: Tensor, key: Tensor, best: TopBuffer) -> None:
    """Offer ``(p,)`` scores with their keys; those out of the limits are dropped."""
    keep = best.keep + 1  # one more than is kept: the buffer must know that something was dropped
    if len(score) > keep + SPARE:
        kept = _allowed(score, best.limits, float(best.cut[0]))
        score, key = score[kept], key[kept]
    if len(score) > keep + SPARE:
        if best.limits.by_key:
            some = torch.topk(key, keep, largest=False).indices
        else:
            least = float(torch.topk(score, keep).values[-1])
            some = (score >= least - tie_window(least, best.ties)).nonzero(as_tuple=True)[0]
        score, key = score[some], key[some]
    top_listed(0, len(key), score.double().cpu().numpy(), key.cpu().numpy(), best)


def _allowed(score: Tensor, limits: ScoreLimits, cut: float) -> Tensor:
    """Which scores are within the limits, and not below a cut."""
    floor = max(cut, limits.floor)
    return (score >= floor) & (score <= limits.ceiling) & (limits.unit * score >= limits.minimum)


def offer_tile_by_row(
    tile: TileSearch, best: TopBuffer, out: Sequence[NDArray[np.float64] | NDArray[np.int64]], rows: tuple[int, int]
) -> None:
    """Put the best pairs of each row of a tile in order into one of ``rows`` of ``out``."""
    ties, wanted = best.ties, tile.counted & _allowed(tile.score, best.limits, -np.inf)
    score = tile.score.masked_fill(~wanted, -np.inf)
    keep = min(best.keep + 1, len(score))
    least = torch.topk(score, keep, dim=0).values[-1] if keep else score.new_full((score.shape[1],), -np.inf)
    least = least - 5 * ties.tolerance * (least.abs().nan_to_num(posinf=0.0) + ties.most + ties.least)
    row, column = ((score >= least) & wanted).T.nonzero(as_tuple=True)
    indptr = torch.searchsorted(row, torch.arange(score.shape[1] + 1, device=row.device)).cpu().numpy()
    key = tile.keys(column, row).cpu().numpy()
    scores = score[column, row].double().cpu().numpy()
    mine = tuple(array[slice(*rows)] for array in out)
    top_listed_per_row(0, score.shape[1], indptr, scores, key, tile.n, best, mine)
