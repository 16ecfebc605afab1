"""Strategies that damage a sound file field by field, and leave the rest of it, and its checksum, as they should be."""

import io
import json
import math
import re
import warnings
import zipfile

import numpy as np
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save

from gelato.runs.files import _checksum

HOSTILE = [
    *(None, True, False, 0, 1, -1, 2, 7, 39, 40, 41, 1 << 30, (1 << 31) - 1, 1 << 31, 1 << 40, (1 << 63) - 1, 1 << 63),
    *(
        10**30,
        0.5,
        -0.5,
        1e-300,
        1e18,
        1e300,
        math.nan,
        math.inf,
        -math.inf,
        "",
        "x",
        "n0",
        "ac",
        "cn",
        "gelato",
        "nan",
    ),
    *("x" * 5_000, "a b " * 3_000, "../../x", "/dev/zero", "\x1b[2J", "\udcff", [], {}, [[]], [None], [1, 2], {"a": 1}),
    *([0.5, "x"], {"x": [1]}, json.loads("[" * 40 + "]" * 40)),
]
NUMBERS = [0, 1, -1, 2, 39, 40, 41, 1 << 15, 1 << 30, 1 << 31, 1 << 40, 1 << 62, 0.5, -0.5, 1e-300, 1e18, 1e300]
NUMBERS += [math.nan, math.inf, -math.inf]
TYPES = ["<i8", "<i4", "<i1", "<u1", "<u8", "<f8", "<f4", "<f2", "|b1", "<U3", "|S2", "<c16", "<M8[s]", ">i8"]
TOKENS = [
    "",
    "0",
    "-1",
    "1e309",
    "nan",
    "inf",
    "9" * 30,
    "9" * 5000,
    "x" * 3000,
    '"',
    "''",
    "[",
    "[[",
    "{",
    "}",
    "true",
]
TOKENS += [
    "\0",
    "\ufeff",
    "\r",
    "\n\n",
    ";",
    "\t",
    ",",
    "=",
    "#",
    "é",
    "\ud7ff",
    "1_000",
    "0x10",
    "1979-05-27",
    "[model]",
]


def _places(value, place=()):
    """Every place inside a JSON value, as the keys that lead to it."""
    yield place
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in list(inner)[:60]:
        yield from _places(each, (*place, key))


def _replaced(value, place, change):
    """A copy of a JSON value with ``change`` made at one place; a change that returns ``...`` leaves it out."""
    if not place:
        return change(value)
    pairs = list(value.items() if isinstance(value, dict) else enumerate(value))
    done = [(key, _replaced(each, place[1:], change) if key == place[0] else each) for key, each in pairs]
    done = [(key, each) for key, each in done if each is not ...]
    return dict(done) if isinstance(value, dict) else [each for _, each in done]


@st.composite
def json_values(draw, value):
    """A JSON value with one or two of its fields replaced, left out, doubled, wrapped, or under another name."""
    for _ in range(draw(st.integers(1, 2))):
        place = draw(st.sampled_from(list(_places(value))))
        hostile = draw(st.sampled_from(HOSTILE))
        kind = draw(st.sampled_from(["replace"] * 6 + ["drop", "wrap", "double", "add"]))

        def change(each, kind=kind, hostile=hostile):
            if kind == "drop":
                return ...
            if kind == "wrap":
                return [each]
            if kind == "double" and isinstance(each, list | str):
                return each + each
            if kind == "add" and isinstance(each, dict):
                return each | {"x": hostile}
            if kind == "add" and isinstance(each, list):
                return [*each, hostile]
            return hostile

        new = _replaced(value, place, change)
        value = value if new is ... else new
    return value


@st.composite
def arrays(draw, array):
    """An array with a value, its type, its shape or its order changed."""
    array, kind = np.array(array), draw(st.sampled_from(["value"] * 5 + ["type", "shape", "order", "fill", "cut"]))
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore", category=np.exceptions.ComplexWarning):
        if kind in ("value", "fill") and array.size and array.dtype.kind in "biufc":
            number = draw(st.sampled_from(NUMBERS))
            held = np.array([number], np.float64)
            if array.dtype.kind in "iub":
                held = np.array([int(max(-(1 << 63), min(number, (1 << 63) - 1))) if math.isfinite(number) else -1])
            place = draw(st.integers(0, array.size - 1)) if kind == "value" else slice(None)
            array.reshape(-1)[place] = held.astype(array.dtype)[0]
            return array
        if kind == "type":
            try:
                return array.astype(draw(st.sampled_from(TYPES)))
            except (ValueError, TypeError):
                return array
        if kind == "shape":
            shapes = [array.reshape(-1), array[None], array.reshape(*array.shape, 1), array.T, np.zeros(0, array.dtype)]
            return draw(st.sampled_from([*shapes, np.zeros((0, 2), array.dtype), np.array(array.reshape(-1)[:1])]))
        if array.ndim and len(array):
            if kind == "order":
                return array[::-1].copy() if draw(st.booleans()) else np.concatenate([array, array])
            return array[: draw(st.integers(0, len(array) - 1))]
    return array


@st.composite
def tables(draw, parts, leave=()):
    """A table of arrays with one or two of them changed, left out, added or under another name."""
    parts = dict(parts)
    for _ in range(draw(st.integers(1, 2))):
        name = draw(st.sampled_from(sorted(set(parts) - set(leave)) or ["x"]))
        kind = draw(st.sampled_from(["change"] * 8 + ["drop", "rename", "add"]))
        if kind == "change" and name in parts:
            parts[name] = draw(arrays(parts[name]))
        elif kind == "drop":
            parts.pop(name, None)
        elif kind == "rename" and name in parts:
            parts[name + "x"] = parts.pop(name)
        else:
            parts["directed"] = np.array(draw(st.sampled_from(["no", "x", True, 2, 0.5])))
    return parts


@st.composite
def damaged_bytes(draw, content):
    """Bytes with some flipped, cut off, left out, repeated or put in."""
    place = draw(st.integers(0, max(0, len(content) - 1)))
    size = draw(st.sampled_from([1, 1, 2, 8, 100]))
    kind = draw(st.sampled_from(["flip", "flip", "cut", "leave", "repeat", "put"]))
    if kind == "flip":
        return (
            content[:place]
            + bytes(each ^ draw(st.integers(1, 255)) for each in content[place : place + 1])
            + (content[place + 1 :])
        )
    if kind == "cut":
        return content[:place]
    if kind == "leave":
        return content[:place] + content[place + size :]
    if kind == "repeat":
        return content[:place] + content[place : place + size] * 3 + content[place + size :]
    return content[:place] + draw(st.sampled_from([b"\0" * 8, b"\xff" * 8, b"PK\x03\x04", b"\n"])) + content[place:]


@st.composite
def text_files(draw, content):
    """A text with a few of its words, or the marks between them, replaced."""
    parts = re.split(r"([,;\t\n=\"\[\]]+)", content.decode())
    for _ in range(draw(st.integers(1, 3))):
        parts[draw(st.integers(0, len(parts) - 1))] = draw(st.sampled_from(TOKENS))
    return "".join(parts).encode("utf-8", "surrogatepass")


@st.composite
def json_files(draw, content):
    """A JSON file, or one of JSON lines, with fields changed."""
    lines = content.decode().splitlines()
    try:
        return json.dumps(draw(json_values(json.loads(content)))).encode()
    except ValueError:
        i = draw(st.integers(0, len(lines) - 1))
        lines[i] = json.dumps(draw(json_values(json.loads(lines[i]))))
        return ("\n".join(lines) + "\n").encode()


@st.composite
def npz_files(draw, content):
    """An archive of arrays with some of them changed; also their words, where one holds JSON."""
    with np.load(io.BytesIO(content)) as archive:
        parts = {name: archive[name] for name in archive.files}
    if "about" in parts and draw(st.booleans()):
        parts["about"] = np.array(json.dumps(draw(json_values(json.loads(str(parts["about"]))))))
    else:
        parts = draw(tables(parts))
    out = io.BytesIO()
    (np.savez_compressed if draw(st.integers(0, 9)) == 0 else np.savez)(out, allow_pickle=True, **parts)
    if draw(st.integers(0, 9)) == 0:
        return _other_headers(out.getvalue(), draw(st.sampled_from([(1 << 40,), (-1,), (1 << 62, 4), (3,), ()])))
    return out.getvalue()


def _other_headers(content, shape):
    """The same archive, whose arrays claim another shape."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(out, "w") as goal:
        for member in source.infolist():
            data = source.read(member)
            size = int.from_bytes(data[8:10], "little")
            header = re.sub(rb"'shape': \([^)]*\)", b"'shape': " + str(shape).encode(), data[10 : 10 + size])
            goal.writestr(member.filename, data[:8] + len(header).to_bytes(2, "little") + header + data[10 + size :])
    return out.getvalue()


@st.composite
def tensor_files(draw, content, path):
    """A safetensors file with tensors or words changed, and a checksum that fits."""
    with safe_open(path, framework="numpy") as file:
        parts, words = {name: file.get_tensor(name) for name in file.keys()}, dict(file.metadata())  # noqa: SIM118
    words.pop("sha256", None)
    json_words = [name for name in ("learned", "settings", "state") if name in words]
    kind = draw(st.sampled_from(["words", "words", "tensors", "about"]))
    if kind == "words" and json_words:
        name = draw(st.sampled_from(json_words))
        words[name] = json.dumps(draw(json_values(json.loads(words[name]))))
    elif kind == "about":
        words = draw(json_values(words))
        words = (
            {str(key): each if isinstance(each, str) else json.dumps(each) for key, each in words.items()}
            if (isinstance(words, dict))
            else {}
        )
    else:
        parts = draw(tables(parts))
    parts = {name: np.ascontiguousarray(each) for name, each in parts.items() if each.dtype.kind in "biuf"}
    parts = {name: each.astype(each.dtype.newbyteorder("=")) for name, each in parts.items()}
    words = {
        key.encode("utf-8", "replace").decode(): each.encode("utf-8", "replace").decode() for key, each in words.items()
    }
    return save(parts, metadata={**words, "sha256": _checksum(parts, words)})


def damaged(path):
    """A strategy of damaged contents of a file, by its format; one in eight is damaged byte by byte."""
    content = path.read_bytes()
    bytewise = damaged_bytes(content)
    by_suffix = {".npz": npz_files, ".json": json_files, ".jsonl": json_files, ".csv": text_files, ".toml": text_files}
    if path.suffix == ".safetensors":
        fields = tensor_files(content, path)
    elif path.suffix in by_suffix:
        fields = by_suffix[path.suffix](content)
    else:
        return bytewise
    return st.integers(0, 7).flatmap(lambda number: bytewise if number == 0 else fields)
