"""Scores for the tests of the engine ray, in a module that its workers can import."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gelato.errors import InputError
from gelato.scores import BlockScores


@dataclass(frozen=True)
class Products:
    """Products of whole numbers, full of ties."""

    n: int

    def __call__(self, rows, columns):
        return (np.outer(rows + 1, columns + 1) % 17).astype(float)


@dataclass(frozen=True)
class Fatal(Products):
    """Kills its process once, in the middle of the rows; a file tells that it has."""

    mark: str

    def __call__(self, rows, columns):
        if rows[0] >= self.n // 2:
            try:
                os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass
            else:
                Path(self.mark).write_text(str(os.getpid()))
                os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(rows, columns)


@dataclass(frozen=True)
class Refusing(Products):
    """Refuses the last rows."""

    def __call__(self, rows, columns):
        if rows[-1] >= self.n - 8:
            raise InputError("these rows are refused")
        return super().__call__(rows, columns)


def scores_of(function, key="a key"):
    return BlockScores(function.n, function, key=key, block_rows=8)


def doubled(item):
    """A call for ``mapped``."""
    if item == 13:
        raise InputError("13 is refused")
    return 2 * item, os.getpid()
