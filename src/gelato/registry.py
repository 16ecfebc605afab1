"""An explicit table of parts of one kind, with a helpful error for an unknown name."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from gelato.errors import InputError

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """A mapping from names to parts; ``register`` adds one. The command line and the contract tests iterate over it."""

    def __init__(self, kind: str, parts: Mapping[str, T]) -> None:
        self.kind = kind
        self._parts = dict(parts)

    def register(self, name: str, part: T) -> None:
        """Add a part of your own; a name that is taken is refused."""
        if name in self._parts:
            raise InputError(f"{self.kind} {name!r} exists already; choose another name")
        self._parts[name] = part

    def __getitem__(self, name: str) -> T:
        try:
            return self._parts[name]
        except (KeyError, TypeError):  # the latter of what cannot be a name
            known = ", ".join(sorted(self._parts))
            raise InputError(f"unknown {self.kind} {name!r}; known: {known}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._parts

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)
