"""Settings files: TOML with a ``[model]`` table that names a method and its settings."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from gelato.errors import InputError
from gelato.io.stored_files import check_depth, read_text
from gelato.methods.table import DEFAULT, METHODS


@dataclass(frozen=True)
class ConfigFile:
    """A settings file.

    Attributes:
        place: where it is from.
        method: its method.
        settings: what it says of the settings of the method; those it does not name keep their defaults.
        tables: the other tables: ``about``, ``run`` and ``reported`` of an experiment.
    """

    place: str
    method: str
    settings: Mapping[str, Any]
    tables: Mapping[str, Any]


def read_config(source: str | Path) -> ConfigFile:
    """Read a TOML file, or one that ships with the package, such as ``paper/cora``.

    ``method`` in ``[model]`` names the method; the other keys are its settings. Unknown keys are refused with the
    known ones.
    """
    path = Path(source)
    ships, place = bundled_config(str(source)), str(path)
    try:
        if ships is not None and not path.is_file():
            text, place = ships, f"{source}.toml"
        else:
            text = read_text(path)
    except InputError:
        raise
    except (OSError, ValueError) as error:
        names = ", ".join(bundled_configs())
        raise InputError(f"{path}: cannot be read: {error}; settings that ship: {names}") from None
    try:
        tables = tomllib.loads(text)
        check_depth(tables)
    except RecursionError:
        raise InputError(f"{place}: its values are nested too deeply; settings are numbers, words and lists") from None
    except ValueError as error:  # also of a number with thousands of digits
        raise InputError(f"{place}: not a TOML file: {error}") from None
    model = tables.pop("model", None)
    if not isinstance(model, dict):
        raise InputError(f"{place}: has no [model] table; put the settings under [model]")
    method = model.pop("method", DEFAULT)
    unset = model.pop("unset", [])
    if not isinstance(unset, list) or not all(isinstance(name, str) for name in unset):
        raise InputError(f"{place} [model]: unset must be a list of names of settings, got {unset!r}")
    model |= dict.fromkeys(unset)
    if not isinstance(method, str) or method not in METHODS:
        raise InputError(f"{place} [model]: unknown method {method!r}; known: {', '.join(sorted(METHODS))}")
    known = METHODS[method].settings.names()
    for key in model:
        if key not in known:
            raise InputError(f"{place} [model]: unknown key {key!r} of {method}; known: method, {', '.join(known)}")
    return ConfigFile(place, method, model, tables)


def config_text(method: str, settings: Mapping[str, Any]) -> str:
    """A settings file for ``read_config``; ``unset`` names what is ``None`` though its default is not."""
    defaults = METHODS[method].settings().as_dict()
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items() if value is not None]
    unset = [name for name, value in settings.items() if value is None and defaults[name] is not None]
    lines += [f"unset = {json.dumps(unset)}"] if unset else []
    return "\n".join(["[model]", f"method = {json.dumps(method)}", *lines]) + "\n"


def bundled_configs() -> list[str]:
    """Names of the settings that ship with the package, such as ``paper/cora``."""
    return sorted(f"{path.parent.name}/{path.stem}" for path in _experiments().glob("[!_]*/*.toml"))


def bundled_config(name: str) -> str | None:
    """The text of settings that ship with the package, or ``None``."""
    path = _experiments() / f"{name}.toml"
    return path.read_text(encoding="utf-8") if name in bundled_configs() else None


def _experiments() -> Path:
    return Path(str(resources.files("gelato.experiments")))
