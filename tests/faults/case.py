"""A fault as a row of a table: what lies in the folder, what is called, and the one line that must come out."""

import hashlib
import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

Content = str | bytes | Callable[[Path], None]
"""What a file holds; or a function that makes it at its path."""


@dataclass(frozen=True)
class Case:
    """One fault.

    Attributes:
        name: what is wrong.
        args: the command line, without ``gelato``.
        fragment: what the line on stderr must contain.
        files: written into the folder before, by name.
        stock: files and folders of the stock that are copied into the folder.
        code: the exit code.
        environment: variables to set, or to unset with ``None``.
    """

    name: str
    args: str | tuple[str, ...]
    fragment: str
    files: dict[str, Content] = field(default_factory=dict)
    stock: tuple[str, ...] = ()
    code: int = 2
    environment: dict[str, str | None] = field(default_factory=dict)

    def argv(self) -> list[str]:
        """The arguments one by one."""
        return shlex.split(self.args) if isinstance(self.args, str) else list(self.args)

    def prepare(self, folder: Path, stock: Path) -> None:
        """Write the files."""
        for name in self.stock:
            copy = shutil.copytree if (stock / name).is_dir() else shutil.copyfile
            copy(stock / name, folder / name)
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if callable(content):
                content(path)
            else:
                path.write_bytes(content.encode() if isinstance(content, str) else content)


def snapshot(folder: Path) -> dict[str, str]:
    """Everything in a folder: files by their content, links by their goal; locks aside."""
    state = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            state[name] = f"link to {path.readlink()}"
        elif path.is_file():
            state[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            state[name] = "folder" if path.is_dir() else "special"
    return {name: value for name, value in state.items() if not name.endswith(".lock")}


def check(case: Case, code: object, output: str, errors: str) -> None:
    """The exit code, one line on stderr, nothing on stdout."""
    lines = [line for line in errors.splitlines() if line.strip()]
    assert code == case.code, (code, errors)
    assert len(lines) == 1, errors
    assert lines[0].startswith("gelato: "), errors
    assert case.fragment in lines[0], errors
    assert "Traceback" not in errors
    assert len(lines[0]) < 2_000
    assert lines[0].isprintable(), repr(lines[0])
    assert output == ""
