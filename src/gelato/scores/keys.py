"""Keys: one hash of everything that some numbers depend on."""

import hashlib
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, cast

import numpy as np
from scipy.sparse import csr_array, issparse


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
        _add_array(digest, part)
    elif issparse(part):
        matrix = csr_array(cast(csr_array, part))
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        _write(digest, b"sparse", repr(matrix.shape).encode())
        for array in (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data):
            _add_array(digest, array)
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


def _add_array(digest: Any, array: np.ndarray[Any, Any]) -> None:
    if array.dtype.hasobject:
        raise TypeError("a key cannot be made of an array of objects")
    _write(digest, b"array", f"{array.dtype.newbyteorder('<').str}{array.shape}".encode())
    digest.update(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")))


def _write(digest: Any, kind: bytes, content: bytes) -> None:
    digest.update(b"%s:%d:%s;" % (kind, len(content), content))
