"""Files of ``torch.save`` that hold arrays and tensors of numbers, read as data and without torch."""

import pickle
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gelato.datasets import pickles
from gelato.errors import InputError
from gelato.io.stored_files import check_regular

MAGIC = 0x1950A86A20F9469CFC6C
"""What a file begins with if it is older than the zip format: it, a version, the machine, and then the object."""

MOST_BYTES = 1 << 30
"""Largest size of a file, unpacked."""

STORAGES = {
    **{"LongStorage": "i8", "IntStorage": "i4", "ShortStorage": "i2", "CharStorage": "i1", "ByteStorage": "u1"},
    **{"FloatStorage": "f4", "DoubleStorage": "f8", "BoolStorage": "b1"},
}


def read_torch(path: Path) -> dict[str, Any]:
    """The dictionary of arrays in a file; anything but numbers is refused."""
    try:
        check_regular(path)
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"has {path.stat().st_size:,} bytes; at most {MOST_BYTES:,} are read")
        value = _zipped(path) if zipfile.is_zipfile(path) else _older(path.read_bytes())
        content = pickles.plain_value(value)
    except InputError as error:
        raise InputError(f"{path} {error}") from None
    except MemoryError:
        raise
    except Exception as error:  # a damaged file can fail in any way
        raise InputError(f"{path} is not a readable file of arrays: {error}") from error
    if not isinstance(content, dict):
        raise InputError(f"{path} must hold a dictionary of arrays, got {type(content).__name__}")
    return content


def _zipped(path: Path) -> Any:
    with zipfile.ZipFile(path) as archive:
        if sum(member.file_size for member in archive.infolist()) > MOST_BYTES:
            raise InputError(f"unpacks to more than {MOST_BYTES:,} bytes; it is not a published file")
        top = [name for name in archive.namelist() if name.endswith("/data.pkl")]
        if len(top) != 1:
            raise InputError("does not hold exactly one data.pkl")
        data = archive.read(top[0])
        return _Tensors(data[: pickles.pickle_length(data)], archive, top[0].removesuffix("data.pkl")).load()


def _older(data: bytes) -> Any:
    values, begin = [], 0
    for _ in range(4):
        end = pickles.pickle_length(data, begin)
        values.append(pickles.Unpickler(data[begin:end], NAMES).load())
        begin = end
    if values[0] != MAGIC:
        raise pickle.UnpicklingError("it was not written by torch.save")
    return values[3]


class _Storage:
    """The numbers of a tensor, without its shape."""

    __slots__ = ("flat",)

    def __init__(self, flat: NDArray[Any]) -> None:
        self.flat = flat

    def __setstate__(self, state: object) -> None:
        raise pickle.UnpicklingError("a storage has no state")


class _Tensors(pickles.Unpickler):
    """Also reads tensors, whose numbers are other members of the archive."""

    def __init__(self, data: bytes, archive: zipfile.ZipFile, prefix: str) -> None:
        super().__init__(data, NAMES)
        self._archive, self._prefix = archive, prefix

    def persistent_load(self, pid: Any) -> _Storage:
        """The storage that a tensor names."""
        tag, kind, key, _, size = pid
        if tag != "storage" or type(kind) is not pickles.StandInType or not re.fullmatch("[0-9]{1,9}", key):
            raise pickle.UnpicklingError("a tensor has no storage of numbers")
        return _Storage(pickles.array_from_bytes(self._archive.read(f"{self._prefix}data/{key}"), kind, (size,), "C"))


def _tensor(storage: Any, offset: Any, size: Any, stride: Any, *_: object) -> pickles.StandInArray:
    """A tensor whose numbers lie row after row, as those of whole tensors do."""
    if type(storage) is not _Storage or not all(type(each) is int and each >= 0 for each in (offset, *size, *stride)):
        raise pickle.UnpicklingError("a tensor is not made of numbers")
    count = int(np.prod(size, dtype=object))
    rows = tuple(int(np.prod(size[i + 1 :], dtype=object)) for i in range(len(size)))
    if tuple(stride) != rows and count > 1:
        raise pickle.UnpicklingError(f"a tensor of shape {size} has strides {stride}, not {rows}")
    part = storage.flat[offset : offset + count]
    return pickles.StandInArray(part.reshape(size).copy())  # fails where the storage has fewer numbers


def _from_buffer(raw: Any, kind: Any, shape: Any, order: Any, *_: object) -> pickles.StandInArray:
    return pickles.StandInArray(pickles.array_from_bytes(raw, kind, shape, order))


def _encoded(text: Any, encoding: Any) -> bytes:
    if not (isinstance(text, str) and encoding == "latin1"):
        raise pickle.UnpicklingError("bytes are written as latin1 only")
    return text.encode("latin1")


NAMES: Mapping[tuple[str, str], Any] = {
    ("numpy", "ndarray"): pickles.Inert,
    ("numpy", "dtype"): pickles.Call(pickles.numeric_type),
    ("_codecs", "encode"): pickles.Call(_encoded),
    ("collections", "OrderedDict"): pickles.Call(lambda *_: {}),
    ("torch._utils", "_rebuild_tensor_v2"): pickles.Call(_tensor),
    **{(f"numpy.{core}.multiarray", "_reconstruct"): pickles.NEW_ARRAY for core in ("core", "_core")},
    **{(f"numpy.{core}.numeric", "_frombuffer"): pickles.Call(_from_buffer) for core in ("core", "_core")},
    **{("torch", name): pickles.StandInType(np.dtype(code)) for name, code in STORAGES.items()},
}
"""All names in a pickled array or tensor, whichever version wrote it, and what stands for them."""
