"""Keys: one hash of everything that some numbers depend on."""

import hashlib
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, cast

import numpy as np
from scipy.sparse import csr_array, issparse

from gelato.sparse.csr import CHUNK


def key_of(*parts: Any) -> str:
    """SHA-256 of some values, as 64 hexadecimal digits: other values, another key.

    Takes text, bytes, numbers, ``None``, NumPy arrays (type, shape and content), SciPy sparse arrays, and mappings and
    sequences of these. Every value is written with its kind and its length, so that no two lists of values run
    together; mappings are taken in the order of their keys.

    >>> key_of("ac", {"steps": 3})[:8]
    '36b3cd1f'
    >>> key_of("ac", 3) == key_of("ac", "3")
    False
    """
    digest = hashlib.sha256()
    for part in parts:
        _add(digest, part)
    return digest.hexdigest()


def _add(digest: Any, part: Any) -> None:
    """Write one value, its kind first."""
    if part is None:
        digest.update(b"none;")
    elif isinstance(part, str):
        _write(digest, b"text", part.encode())
    elif isinstance(part, bytes):
        _write(digest, b"bytes", part)
    elif isinstance(part, bool | np.bool_):
        digest.update(b"true;" if part else b"false;")
    elif isinstance(part, Integral):
        _write(digest, b"int", str(int(part)).encode())
    elif isinstance(part, Real):
        _write(digest, b"float", float(part).hex().encode())
    elif isinstance(part, np.ndarray):
        _add_array(digest, part, part.dtype)
    elif issparse(part):
        matrix = csr_array(cast(csr_array, part))
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        _write(digest, b"sparse", repr(matrix.shape).encode())
        for array, dtype in ((matrix.indptr, np.int64), (matrix.indices, np.int64), (matrix.data, matrix.dtype)):
            _add_array(digest, array, np.dtype(dtype))
    elif isinstance(part, Mapping):
        _write(digest, b"mapping", str(len(part)).encode())
        for name in sorted(part, key=repr):
            _add(digest, name)
            _add(digest, part[name])
    elif isinstance(part, Sequence):
        _write(digest, b"sequence", str(len(part)).encode())
        for each in part:
            _add(digest, each)
    else:
        raise TypeError(f"a key cannot be made of {type(part).__name__}")


def _add_array(digest: Any, array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> None:
    """Write an array as one of another type, some of it at a time."""
    if dtype.hasobject:
        raise TypeError("a key cannot be made of an array of objects")
    little = dtype.newbyteorder("<")
    _write(digest, b"array", f"{little.str}{array.shape}".encode())
    if array.size <= CHUNK or array.ndim == 0:
        digest.update(np.ascontiguousarray(array, dtype=little))
        return
    rows = max(1, CHUNK * len(array) // array.size)
    for i in range(0, len(array), rows):
        digest.update(np.ascontiguousarray(array[i : i + rows], dtype=little))


def _write(digest: Any, kind: bytes, content: bytes) -> None:
    digest.update(b"%s:%d:%s;" % (kind, len(content), content))
