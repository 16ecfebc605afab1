"""Old pickles read as data, by an unpickler that knows six names and runs nothing else."""

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.errors import InputError


def read_pickle(path: Path) -> Any:
    """The content of a Planetoid pickle: an array, a ``csr_array``, or a dictionary of lists.

    Python 2 wrote them with the class paths of its time; each known path is replaced by a harmless stand-in, and any
    other is refused before anything is called.
    """
    with path.open("rb") as file:
        try:
            value = _Unpickler(file, path).load()
        except InputError:
            raise
        except Exception as error:  # a damaged pickle can fail in any way
            raise InputError(f"{path} is not a readable pickle: {error}; delete it to download it again") from error
    return value.matrix(path) if isinstance(value, _Matrix) else value


class _Matrix:
    """The fields of a ``csr_matrix`` pickled by any version of SciPy."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.fields = state

    def matrix(self, path: Path) -> csr_array:
        try:
            triple = (self.fields["data"], self.fields["indices"], self.fields["indptr"])
            shape = self.fields.get("_shape", self.fields.get("shape"))
            matrix = csr_array(triple, shape=shape)
            matrix.check_format()
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"{path} holds a damaged sparse matrix: {error}; delete it to download it again"
            ) from error
        return matrix


class _Inert:
    """A class that a pickle names but that is never needed."""


def _array(kind: object, shape: object, code: object) -> NDArray[Any]:
    return np.empty(0, dtype=np.int8)  # ``__setstate__`` of the array gives it shape, type and content


def _dtype(name: str, align: object, copy: object) -> np.dtype[Any]:
    if not re.fullmatch("[biuf][1248]", name):
        raise pickle.UnpicklingError(f"an array of type {name!r} is not an array of numbers")
    return np.dtype(name)


def _dictionary(factory: object) -> dict[Any, Any]:
    return {}


STAND_INS: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy.core.multiarray", "_reconstruct"): _array,
    ("numpy", "ndarray"): _Inert,
    ("numpy", "dtype"): _dtype,
    ("scipy.sparse.csr", "csr_matrix"): _Matrix,
    ("collections", "defaultdict"): _dictionary,
    ("__builtin__", "list"): _Inert,
}
"""All the names in the Planetoid files, and what stands for them."""


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: Any, path: Path) -> None:
        super().__init__(file, fix_imports=False, encoding="latin1")
        self.path = path

    def find_class(self, module: str, name: str) -> Any:
        try:
            return STAND_INS[module, name]
        except KeyError:
            raise InputError(
                f"{self.path} asks for {module}.{name}, which no dataset needs; it is not the published file, delete it"
            ) from None
