"""Pickles read as data: a closed list of operations and of names, and stand-ins that hold numbers and nothing else.

No class or function that a pickle names is ever looked up: each known name stands for something of this module, and any
other is refused before anything is called. Arrays are copied out of the bytes in the file after their type and size are
checked, so objects, foreign memory and wrong sizes cannot occur.
"""

import io
import math
import pickle
import pickletools
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gelato.errors import InputError
from gelato.io.stored_files import open_stored

MOST_BYTES = 1 << 30
"""Largest size of a file."""

_OPERATIONS = (
    "PROTO FRAME STOP MARK NONE NEWTRUE NEWFALSE INT BININT BININT1 BININT2 LONG LONG1 LONG4 FLOAT BINFLOAT "
    "STRING BINSTRING SHORT_BINSTRING UNICODE BINUNICODE SHORT_BINUNICODE BINUNICODE8 "
    "BINBYTES SHORT_BINBYTES BINBYTES8 BYTEARRAY8 EMPTY_LIST LIST APPEND APPENDS EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 "
    "TUPLE3 EMPTY_DICT DICT SETITEM SETITEMS GLOBAL STACK_GLOBAL REDUCE NEWOBJ BUILD BINPERSID "
    "PUT BINPUT LONG_BINPUT MEMOIZE GET BINGET LONG_BINGET"
)
OPERATIONS = frozenset(_OPERATIONS.split())
"""The pickle operations that arrays of numbers need; all others are refused."""

MOST_DIMENSIONS = 4


class Call:
    """A function that a pickle may call, and do nothing else with."""

    __slots__ = ("_function",)
    _function: Callable[..., Any]

    def __init__(self, function: Callable[..., Any]) -> None:
        object.__setattr__(self, "_function", function)

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise pickle.UnpicklingError("a function cannot be changed")

    def __setstate__(self, state: object) -> NoReturn:
        raise pickle.UnpicklingError("a function has no state")


class Inert:
    """A class that a pickle names but that is never needed."""

    __slots__ = ()

    def __setstate__(self, state: object) -> NoReturn:
        raise pickle.UnpicklingError("this class has no state")


class StandInType:
    """Stands for a ``numpy.dtype`` of numbers."""

    __slots__ = ("dtype",)

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype

    def __setstate__(self, state: Any) -> None:
        """The byte order; the rest belongs to types that are not numbers."""
        if state[1] not in ("<", ">", "|", "=") or any(part is not None for part in state[2:5]):
            raise pickle.UnpicklingError("an array of a compound type is not an array of numbers")
        self.dtype = self.dtype.newbyteorder(state[1])


class StandInArray:
    """Stands for a ``numpy.ndarray``; ``value`` is a copy of what the pickle holds."""

    __slots__ = ("value",)

    def __init__(self, value: NDArray[Any] | None = None) -> None:
        self.value = value

    def __setstate__(self, state: Any) -> None:
        _, shape, kind, by_columns, raw = state
        self.value = array_from_bytes(raw, kind, shape, "F" if by_columns else "C")


class StandInMatrix:
    """Stands for a ``csr_matrix`` of any version of SciPy."""

    __slots__ = ("fields",)
    fields: Mapping[str, Any]

    def __setstate__(self, state: Any) -> None:
        self.fields = dict(state)

    def value(self) -> csr_array:
        """The matrix, checked."""
        try:
            data, indices, indptr = (plain_value(self.fields[name]) for name in ("data", "indices", "indptr"))
            matrix = csr_array((data, indices, indptr), shape=self.fields.get("_shape", self.fields.get("shape")))
            matrix.check_format()
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"holds a damaged sparse matrix: {error}") from error
        return matrix


def array_from_bytes(raw: Any, kind: Any, shape: Any, order: Any) -> NDArray[Any]:
    """A copy of raw bytes as an array; refused if they are not exactly as many as the shape takes."""
    if isinstance(raw, str):
        raw = raw.encode("latin1")  # a byte string of Python 2
    sizes = isinstance(shape, tuple) and all(type(size) is int and size >= 0 for size in shape)
    if not (
        isinstance(raw, bytes | bytearray) and type(kind) is StandInType and sizes and len(shape) <= MOST_DIMENSIONS
    ):
        raise pickle.UnpicklingError("it is not an array of numbers")
    if math.prod(shape) * kind.dtype.itemsize != len(raw) or order not in ("C", "F"):
        raise pickle.UnpicklingError(f"an array of shape {shape} and type {kind.dtype} does not have {len(raw)} bytes")
    flat = np.frombuffer(bytes(raw), kind.dtype)
    return flat.astype(kind.dtype.newbyteorder("=")).reshape(shape, order=order)


def plain_value(value: Any) -> Any:
    """What a stand-in stands for; the values of a dictionary too."""
    if isinstance(value, StandInArray):
        if value.value is None:
            raise pickle.UnpicklingError("an array has no content")
        return value.value
    if isinstance(value, StandInMatrix):
        return value.value()
    return {key: plain_value(each) for key, each in value.items()} if isinstance(value, dict) else value


def numeric_type(name: Any, *_: object) -> StandInType:
    """Stands for ``numpy.dtype``; only types of numbers are admitted."""
    if not (isinstance(name, str) and re.fullmatch("[biuf][1248]", name)):
        raise pickle.UnpicklingError(f"an array of type {name!r} is not an array of numbers")
    return StandInType(np.dtype(name))


NEW_ARRAY = Call(lambda *_: StandInArray())
STAND_INS: Mapping[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): NEW_ARRAY,
    ("numpy", "ndarray"): Inert,
    ("numpy", "dtype"): Call(numeric_type),
    ("scipy.sparse.csr", "csr_matrix"): StandInMatrix,
    ("collections", "defaultdict"): Call(lambda *_: {}),
    ("__builtin__", "list"): Inert,
}
"""All the names in the Planetoid files, and what stands for them."""


class Unpickler(pickle.Unpickler):
    """Reads one pickle whose operations are checked; ``names`` maps the names it may use to their stand-ins."""

    def __init__(self, data: bytes, names: Mapping[tuple[str, str], Any]) -> None:
        super().__init__(io.BytesIO(data), fix_imports=False, encoding="latin1")
        self._names = names

    def find_class(self, module: str, name: str) -> Any:
        """The stand-in for a name."""
        try:
            return self._names[module, name]
        except KeyError:
            raise InputError(f"asks for {module}.{name}, which no dataset needs") from None

    def persistent_load(self, pid: Any) -> Any:
        """Refuse references to objects outside the pickle."""
        raise pickle.UnpicklingError("it needs an object that is not in the file")


def pickle_length(data: bytes, begin: int = 0) -> int:
    """Where the pickle that begins at a place ends; one with other operations than data needs is refused.

    Places in the memo are bounded by the bytes of the pickle: the unpickler takes memory for the largest of them.
    """
    stream = io.BytesIO(data)
    stream.seek(begin)
    for operation, argument, place in pickletools.genops(stream):
        if operation.name not in OPERATIONS:
            raise pickle.UnpicklingError(f"operation {operation.name} at byte {place} is not needed for data")
        if operation.name in ("PUT", "BINPUT", "LONG_BINPUT") and int(argument or 0) > len(data):
            raise pickle.UnpicklingError(f"place {argument} of the memo at byte {place} is too large")
    return stream.tell()


def read_pickle(path: Path) -> Any:
    """The content of a Planetoid pickle: an array, a ``csr_array``, or a dictionary of lists."""
    try:
        with open_stored(path, MOST_BYTES) as stream:
            data = stream.read()
        return plain_value(Unpickler(data[: pickle_length(data)], STAND_INS).load())
    except InputError as error:
        raise InputError(f"{path} {error}; it is not the published file: delete it to download it again") from None
    except MemoryError:
        raise
    except Exception as error:  # a damaged pickle can fail in any way
        raise InputError(f"{path} is not a readable pickle: {error}; delete it to download it again") from error
