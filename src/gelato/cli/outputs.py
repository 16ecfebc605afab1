"""Outputs of commands: checked against everything that a command reads, before it reads any of it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import wraps
from pathlib import Path
from typing import Any

import click

from gelato.cli.sharding import merging

Inputs = Sequence[tuple[str, str]]
"""Files and folders that a command reads, each after what the user calls it."""

Check = Callable[[str, str, Inputs], None]
"""From what the user calls an output, its path, and the inputs to a refusal, if there is a reason for one."""


def outputs(**checks: Check) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Check the outputs of a command, by the names of its parameters, and make the folders they lie in.

    Folders that were made for nothing are removed if the command fails. All other parameters that are paths are inputs.
    """

    def checked(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**given: Any) -> None:
            from gelato.io.write.outputs import create_folders

            names = {each.name: _called(each) for each in click.get_current_context().command.params}
            inputs = _inputs(given, checks)
            goals = {name: str(given[name]) for name in checks if given.get(name) is not None}
            for name, path in goals.items():
                checks[name](names[name], path, inputs)
            with ExitStack() as stack:
                for path in goals.values():
                    stack.enter_context(create_folders(Path(path).parent))
                command(**given)

        return run

    return checked


def shard_file(option: str, path: str, inputs: Inputs) -> None:
    """The file of a shard."""
    if not path.endswith(".npz"):
        raise click.UsageError(f"--shard writes an npz file: its name must end in .npz, got {path}")
    _file(option, path, inputs)


def file_of_links(option: str, path: str, inputs: Inputs) -> None:
    """A table of suggestions; the run beside it is checked too. With --shard, the file of the shard."""
    from gelato.io.files import format_of
    from gelato.io.tables.files import WRITERS

    context = click.get_current_context()
    if context.params.get("shard") is not None:
        shard_file(option, path, inputs)
        return
    format_of(Path(path), WRITERS)
    _file(option, path, inputs)
    if merging() is None and context.params.get("run") is None and context.params.get("model") is None:
        run_folder(option, str(Path(path).with_suffix(".run")), inputs)


def picture(option: str, path: str, inputs: Inputs) -> None:
    """An svg file."""
    if not path.endswith(".svg"):
        raise click.UsageError(f"the picture is an svg file: its name must end in .svg, got {path}")
    _file(option, path, inputs)


def page(option: str, path: str, inputs: Inputs) -> None:
    """A report, and the charts beside it."""
    from gelato.report.page import check_page

    check_page(path, _with_contents(inputs), option)


def run_folder(option: str, path: str, inputs: Inputs) -> None:
    """The folder of a run; the run that lies there already is no input, but no file of it may be one."""
    from gelato.runs.files import OWN
    from gelato.runs.folder import check_run_path

    check_run_path(Path(path))
    _folder(option, path, OWN, inputs)


def search_folder(option: str, path: str, inputs: Inputs) -> None:
    """The folder of a search for settings."""
    from gelato.evaluation.search_folder import OWN, check_folder

    check_folder(Path(path))
    _folder(option, path, OWN, inputs)


def result_folder(option: str, path: str, inputs: Inputs) -> None:
    """A folder of results."""
    from gelato.errors import InputError

    if Path(path).exists() and not Path(path).is_dir():
        raise InputError(f"{option} {path} is a file; give a folder")
    _folder(option, path, (), inputs)


def _file(option: str, path: str, inputs: Inputs) -> None:
    from gelato.io.write.outputs import check_output

    check_output(path, _with_contents(inputs), option)


def _folder(option: str, path: str, own: Sequence[str], inputs: Inputs) -> None:
    from gelato.io.write.outputs import check_output, check_parent

    check_parent(Path(path) / "file")
    for name in own:
        check_output(Path(path) / name, inputs, option)


def _inputs(given: Mapping[str, Any], checks: Mapping[str, Check]) -> Inputs:
    """What a command reads: all parameters that are paths, and exist, and are no outputs."""
    inputs: list[tuple[str, str]] = []
    for each in click.get_current_context().command.params:
        if not isinstance(each.type, click.Path) or each.name in checks:
            continue
        value = given.get(each.name or "")
        values = value if isinstance(value, tuple) else () if value is None else (value,)
        inputs += [(_called(each), path) for path in map(str, values) if _exists(path)]
    return inputs


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # such as a name that is too long
        return False


def _with_contents(inputs: Inputs) -> Inputs:
    """Inputs, with the files of those that are runs or models."""
    from gelato.runs.files import OWN

    files = [(name, str(Path(path) / own)) for name, path in inputs if Path(path).is_dir() for own in OWN]
    return [*inputs, *(each for each in files if _exists(each[1]))]


def _called(parameter: click.Parameter) -> str:
    """What the user calls a parameter."""
    return parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name.upper()
