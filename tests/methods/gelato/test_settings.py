"""Settings refuse what no model can be made of, and read from TOML files what these say and no more."""

import math
from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pytest

from gelato.errors import InputError
from gelato.methods.config_files import bundled_config, bundled_configs, read_config
from gelato.methods.gelato.settings import LOSS_NAMES, GelatoSettings
from gelato.regimes import REGIMES
from gelato.similarity.measures import SIMILARITIES

NOT_SHARES = (-0.01, 1.01, math.nan, math.inf, "0.5", True, [0.5])
NOT_COUNTS = (-1, 1.0, 2.5, math.nan, "1", True, None)
NOT_NAMES = ("", "nothing", None, 1)

# What breaks a rule: the setting, the words of the rule, and values.
BROKEN = [
    ("alpha", "lie between 0 and 1, or None", NOT_SHARES),
    ("beta", "lie between 0 and 1, or None", NOT_SHARES),
    ("eta", "be a number of at least 0, or None", (10**400, -0.1, math.nan, math.inf, "1", False)),
    ("dropout", "be at least 0 and less than 1", (-0.1, 1, 1.5, math.nan, "0", True, None)),
    ("learning_rate", "be a positive number", (0, -1e-3, math.inf, math.nan, "1e-3", None)),
    ("epochs", "be a whole number of at least 0", NOT_COUNTS),
    ("random_state", "be a whole number of at least 0", (2**63, *NOT_COUNTS)),
    ("hidden", "be a whole number from 1 to 65,536", (0, 65_537, *NOT_COUNTS)),
    *((name, "be a whole number of at least 1", (0, *NOT_COUNTS)) for name in ("parts", "ratio", "batches")),
    ("steps", "be a whole number from 1 to 1,000", (0, 1001, *NOT_COUNTS)),
    ("patience", "be a whole number of at least 1, or None", (0, *NOT_COUNTS[:-1])),
    ("threads", "be at least 1, or None", (0, *NOT_COUNTS[:-1])),
    ("learn_mixing", "be true or false", ("yes", 1, None)),
    ("device", "be the name of a device", (3.5, None)),
    ("precision", "be one of auto, float32, float64", ("float16", "", None, 32)),
    ("similarity", f"be one of {', '.join(SIMILARITIES)}", NOT_NAMES),
    ("loss", f"be one of {', '.join(LOSS_NAMES)}", NOT_NAMES),
    ("self_loops", "be one of isolated, all", ("", "none", True)),
    ("encoder", "be one of mlp, gin, gcn", NOT_NAMES),
    ("heuristic", "be one of autocovariance, none", NOT_NAMES),
    ("regime", f"be one of {', '.join(REGIMES)}", NOT_NAMES),
]
BAD = [(name, rule, value) for name, rule, values in BROKEN for value in values]

GOOD = {
    "alpha": (0, 1, 0.5, None, np.float64(0.25), np.float32(0.25)),
    "beta": (0, 1, 0.25, None),
    "eta": (0, 0.75, 3, None),
    "dropout": (0, 0.5, 0.999),
    "learning_rate": (1e-9, 1, np.float64(0.1)),
    "epochs": (0, 250),
    "random_state": (0, 2**31, np.int64(7)),
    **dict.fromkeys(("steps", "hidden", "parts", "ratio", "batches"), (1, 128, np.int64(3))),
    **dict.fromkeys(("patience", "threads"), (None, 1, 40)),
    "precision": ("auto", "float32", "float64"),
    "similarity": tuple(SIMILARITIES),
    "loss": LOSS_NAMES,
    "self_loops": ("isolated", "all", None),
    "encoder": ("mlp", "gin", "gcn"),
    "heuristic": ("autocovariance", "none"),
    "regime": ("unbiased", "partitioned", "biased"),
    "learn_mixing": (True, False),
    "device": ("auto", "cpu", "cuda:1"),
}


def test_the_defaults_pass():
    assert GelatoSettings().as_dict()["eta"] is None


def test_every_setting_with_a_rule_has_a_refusal_and_an_acceptance_here():
    names = {field.name for field in fields(GelatoSettings)}
    assert {name for name, _, _ in BROKEN} == names
    assert set(GOOD) == names


@pytest.mark.parametrize(("name", "rule", "value"), BAD, ids=[f"{name} {value!r}" for name, _, value in BAD])
def test_a_broken_rule_is_refused_with_the_name_the_rule_and_the_value(name, rule, value):
    with pytest.raises(InputError) as caught:
        GelatoSettings(**{name: value})
    message = str(caught.value)
    assert message.startswith(f"{name} must {rule}")
    assert message.endswith(f", got {value!r}")


@pytest.mark.parametrize("name", GOOD)
def test_what_keeps_the_rules_passes(name):
    for value in GOOD[name]:
        settings = GelatoSettings(**{name: value})
        assert settings.as_dict()[name] == value


def test_a_list_of_similarities_is_refused():
    with pytest.raises(InputError, match="similarity must be one of"):
        GelatoSettings(similarity=["cosine"])


def test_the_dictionary_of_settings_makes_the_same_settings():
    settings = GelatoSettings(eta=0.5, alpha=0.25, encoder="gin", patience=3)
    assert GelatoSettings(**settings.as_dict()).as_dict() == settings.as_dict()
    assert list(settings.as_dict()) == [field.name for field in fields(GelatoSettings)]


# Files


def written(folder, text, name="my.toml"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_gives_what_it_says_and_nothing_else(tmp_path):
    path = written(
        tmp_path, '[about]\nsource = "me"\n\n[model]\neta = 0.5\nencoder = "gin"\n\n[run]\ndataset = "cora"\n'
    )
    assert dict(read_config(path).settings) == {"eta": 0.5, "encoder": "gin"}
    assert dict(read_config(str(path)).settings) == {"eta": 0.5, "encoder": "gin"}
    left = GelatoSettings().as_dict() | {"eta": 0.5, "encoder": "gin"}
    assert GelatoSettings(**dict(read_config(path).settings)).as_dict() == left


def test_an_empty_model_table_changes_nothing(tmp_path):
    assert dict(read_config(written(tmp_path, "[model]\n")).settings) == {}


def test_every_setting_but_none_can_be_read_from_a_file(tmp_path):
    wanted = {name: next(v for v in values if v is not None) for name, values in GOOD.items()}
    wanted = {name: value.item() if isinstance(value, np.generic) else value for name, value in wanted.items()}
    wanted |= {"learn_mixing": True, "device": "cpu"}
    lines = [f"{name} = {str(value).lower() if value is True else repr(value)}" for name, value in wanted.items()]
    found = dict(read_config(written(tmp_path, "[model]\n" + "\n".join(lines))).settings)
    assert found == wanted
    GelatoSettings(**found)


def test_an_unknown_key_is_refused_with_the_file_and_the_known_keys(tmp_path):
    path = written(tmp_path, "[model]\neta = 0.5\nalhpa = 0.5\n")
    with pytest.raises(InputError) as caught:
        dict(read_config(path).settings)
    known = ", ".join(field.name for field in fields(GelatoSettings))
    assert str(caught.value) == f"{path} [model]: unknown key 'alhpa' of gelato; known: method, {known}"


@pytest.mark.parametrize("text", ["", "eta = 0.5\n", 'model = "gelato"\n', "[run.model]\neta = 0.5\n"], ids=repr)
def test_a_file_without_a_model_table_is_refused(tmp_path, text):
    path = written(tmp_path, text)
    with pytest.raises(InputError) as caught:
        dict(read_config(path).settings)
    assert str(caught.value) == f"{path}: has no [model] table; put the settings under [model]"


def test_a_file_that_is_no_toml_is_refused_with_its_place(tmp_path):
    path = written(tmp_path, "[model]\neta = \n")
    with pytest.raises(InputError) as caught:
        dict(read_config(path).settings)
    assert str(caught.value).startswith(f"{path}: not a TOML file: ")
    assert "line 2" in str(caught.value)


def test_a_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "my.toml"
    path.write_bytes(b"[model]\nencoder = '\xff'\n")
    with pytest.raises(InputError, match="cannot be read"):
        dict(read_config(path).settings)


def test_a_missing_file_is_refused_with_the_names_that_ship(tmp_path):
    path = tmp_path / "no.toml"
    with pytest.raises(InputError) as caught:
        dict(read_config(path).settings)
    message = str(caught.value)
    assert message.startswith(f"{path}: cannot be read: ")
    assert message.endswith(f"; settings that ship: {', '.join(bundled_configs())}")


# Settings that ship


@pytest.fixture
def experiments(tmp_path, monkeypatch):
    """A folder in the place of the experiments that ship."""
    monkeypatch.setattr(
        "gelato.methods.config_files.resources", SimpleNamespace(files=lambda package: tmp_path / package)
    )
    for name, text in (
        ("paper/cora.toml", "[model]\neta = 0.5\n"),
        ("paper/notes.md", "no settings"),
        ("ablations/cora-gin.toml", "[model]\nencoder = 'gin'\nwrong = 1\n"),
        ("__pycache__/x.toml", "[model]\n"),
        ("__init__.py", ""),
        ("top.toml", "[model]\n"),
    ):
        path = tmp_path / "gelato.experiments" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("experiments")
def test_what_ships_is_named_by_folder_and_file():
    assert bundled_configs() == ["ablations/cora-gin", "paper/cora"]
    assert bundled_config("paper/cora") == "[model]\neta = 0.5\n"
    assert bundled_config("paper/notes") is None
    assert dict(read_config("paper/cora").settings) == {"eta": 0.5}
    with pytest.raises(InputError, match=r"^ablations/cora-gin\.toml \[model\]: unknown key 'wrong'"):
        dict(read_config("ablations/cora-gin").settings)
    with pytest.raises(InputError, match=r"settings that ship: ablations/cora-gin, paper/cora$"):
        dict(read_config("paper/coral").settings)


@pytest.mark.usefixtures("experiments")
def test_a_file_of_the_user_goes_before_one_of_the_same_name_that_ships(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "paper").mkdir()
    written(tmp_path / "paper", "[model]\neta = 0.25\n", name="cora")
    assert dict(read_config("paper/cora").settings) == {"eta": 0.25}
