"""Crafted pickles: objects, foreign memory and wrong sizes cannot come out of a dataset file."""

import pickle
import struct
import zipfile

import numpy as np
import pytest

from gelato.datasets.pickles import STAND_INS, read_pickle
from gelato.datasets.torch_files import MAGIC, NAMES, read_torch
from gelato.errors import InputError

HEAD = b"\x80\x02"
RECONSTRUCT = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tC\x01btR"


def text(value):
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def raw(value):
    return b"B" + struct.pack("<I", len(value)) + value


LITTLE = b"(K\x03" + text("<") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"


def dtype(code, state=LITTLE):
    return b"cnumpy\ndtype\n(" + text(code) + b"K\x00K\x01tR" + state


def array(shape, kind, content):
    """An array with a state of its own choice."""
    return RECONSTRUCT + b"(K\x01(" + shape + b"t" + kind + b"\x89" + content + b"tb"


FAKE_POINTERS = raw(struct.pack("<2Q", 0x4141414141414141, 0x4242424242424242))
ATTACKS = {
    "objects over chosen bytes": array(b"K\x02", dtype("O8", b""), FAKE_POINTERS),
    "objects by state": array(
        b"K\x02", dtype("i8", b"(K\x03" + text("|") + b"N" + text("O") + b"NK\x08K\x08K\x3ftb"), FAKE_POINTERS
    ),
    "a list as content": array(b"K\x02", dtype("O8", b""), b"](K\x01K\x02e"),
    "fewer bytes than the shape": array(b"J\xff\xff\xff\x7f", dtype("i8"), raw(b"12345678")),
    "more bytes than the shape": array(b"K\x01", dtype("i8"), raw(b"1234567890123456")),
    "a negative size": array(b"J\xff\xff\xff\xff", dtype("i8"), raw(b"12345678")),
    "a size that overflows": array(b"\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01", dtype("i8"), raw(b"")),
    "dates": array(b"K\x01", dtype("M8"), raw(b"12345678")),
    "a number as content": array(b"K\x01", dtype("i8"), b"K\x07"),
    "no content": RECONSTRUCT,
    "ndarray called with a buffer": b"cnumpy\nndarray\n(K\x02tR",
    "ndarray by NEWOBJ and a state": b"cnumpy\nndarray\n)\x81}b",
    "a function that is changed": b"cnumpy\ndtype\n}" + text("x") + b"K\x01sb",
    "a class that is changed": b"cnumpy\nndarray\n}" + text("x") + b"K\x01sb",
    "a memo of many gigabytes": b"Nr\xff\xff\xff\x7f",
    "an operation that makes objects": b"(ios\nsystem\n",
    "a registered extension": b"\x82\x01",
    "a system call": b"cos\nsystem\n(" + text("true") + b"tR",
    "a name with dots": b"cnumpy\ncore.multiarray._reconstruct\n)R",
    "a number of 5,000 digits": b"L" + b"9" * 5000 + b"L\n",
    "a persistent object": b"K\x01Q",
    "an end that is missing": array(b"K\x01", dtype("i8"), raw(b"12345678"))[:-3],
}


def of_planetoid(folder, content):
    path = folder / "ind.x.ty"
    path.write_bytes(HEAD + content + b".")
    return read_pickle(path)


def of_older_torch(folder, content):
    path = folder / "train.pt"
    path.write_bytes(b"".join(pickle.dumps(value, 2) for value in (MAGIC, 1001, {})) + HEAD + b"}" + content + b".")
    return read_torch(path)


def of_torch(folder, content):
    path = folder / "train.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("train/data.pkl", HEAD + b"}" + text("edge") + content + b"s.")
        archive.writestr("train/data/0", np.arange(6).tobytes())
        archive.writestr("secret", b"12345678")
    return read_torch(path)


@pytest.mark.parametrize("read", [of_planetoid, of_older_torch, of_torch])
@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_a_crafted_pickle_is_refused(tmp_path, read, attack):
    with pytest.raises(InputError, match=r"ind\.x\.ty|train\.pt") as refused:
        read(tmp_path, attack)
    assert "\n" not in str(refused.value)


def tensor(kind="LongStorage", key="0", count=6, offset=0, size=(3, 2), stride=(2, 1)):
    """A tensor whose numbers lie beside the pickle."""
    numbers = [b"(" + b"".join(b"K" + bytes([each]) for each in part) + b"t" for part in (size, stride)]
    place = b"(" + text("storage") + f"ctorch\n{kind}\n".encode() + text(key) + text("cpu") + b"K" + bytes([count])
    pid = place + b"tQ"
    return (
        b"ctorch._utils\n_rebuild_tensor_v2\n("
        + pid
        + b"K"
        + bytes([offset])
        + b"".join(numbers)
        + b"\x89ccollections\nOrderedDict\n)RtR"
    )


@pytest.mark.parametrize(
    "change",
    [
        {"offset": 1},
        {"size": (9, 2)},
        {"stride": (0, 0)},
        {"stride": (1, 3)},
        {"count": 5},
        {"count": 7},
        {"key": "../secret"},
        {"key": "1"},
        {"kind": "ComplexDoubleStorage"},
        {"kind": "UntypedStorage"},
    ],
    ids=str,
)
def test_a_tensor_reads_its_own_numbers_only(tmp_path, change):
    np.testing.assert_array_equal(of_torch(tmp_path, tensor())["edge"], np.arange(6).reshape(3, 2))
    with pytest.raises(InputError, match=r"train\.pt"):
        of_torch(tmp_path, tensor(**change))


def test_arrays_are_read_as_they_were_written(tmp_path):
    state = b"(K\x03" + text(">") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    big = array(b"K\x02", dtype("i4", state), raw(struct.pack(">2i", 1, -2)))
    np.testing.assert_array_equal(of_planetoid(tmp_path, big), [1, -2])
    columns = array(b"K\x02K\x02", dtype("i8"), raw(np.arange(4).tobytes())).replace(b"\x89B", b"\x88B")
    np.testing.assert_array_equal(of_planetoid(tmp_path, columns), [[0, 2], [1, 3]])


@pytest.mark.parametrize("legacy", [False, True])
def test_what_torch_saves_is_read_back(tmp_path, legacy):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    split = {"edge": rng.integers(0, 99, (50, 2)), "weight": rng.random(50, dtype=np.float32), "year": np.arange(50)}
    torch.save(split, tmp_path / "train.pt", _use_new_zipfile_serialization=not legacy)
    content = read_torch(tmp_path / "train.pt")
    assert list(content) == list(split)
    for name, value in split.items():
        np.testing.assert_array_equal(content[name], value)
        assert content[name].dtype == value.dtype
    if not legacy:
        torch.save({"edge": torch.arange(6).reshape(3, 2)[1:]}, tmp_path / "train.pt")
        np.testing.assert_array_equal(read_torch(tmp_path / "train.pt")["edge"], [[2, 3], [4, 5]])


def test_an_archive_that_unpacks_to_gigabytes_is_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr("gelato.datasets.torch_files.MOST_BYTES", 1_000_000)
    with zipfile.ZipFile(tmp_path / "train.pt", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("train/data.pkl", b"\0" * 2_000_000)
    with pytest.raises(InputError, match="unpacks to more than 1,000,000 bytes"):
        read_torch(tmp_path / "train.pt")


def test_no_stand_in_is_a_class_or_a_function_of_others():
    for names in (STAND_INS, NAMES):
        for value in names.values():
            kind = value if isinstance(value, type) else type(value)
            assert kind.__module__.startswith("gelato.datasets")
    call = NAMES["numpy", "dtype"]
    with pytest.raises(pickle.UnpicklingError):
        call.other = 1
    with pytest.raises(pickle.UnpicklingError):
        call.__setstate__({})
