"""An explicit table of parts of one kind, with a helpful error for an unknown name."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from gelato.errors import InputError

T = TypeVar("T")
U = TypeVar("U")


class _Parts(Mapping[str, T]):
    """Parts of one kind by name."""

    kind: str
    _parts: dict[str, T]

    def __getitem__(self, name: str) -> T:
        try:
            return self._parts[name]
        except (KeyError, TypeError):  # the latter of what cannot be a name
            raise InputError(f"unknown {self.kind} {name!r}; known: {', '.join(sorted(self._parts))}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._parts

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


class Registry(_Parts[T]):
    """A mapping from names to parts; ``register`` adds one. The command line and the contract tests iterate over it."""

    def __init__(self, kind: str, parts: Mapping[str, T]) -> None:
        self.kind, self._parts = kind, dict(parts)

    def register(self, name: str, part: T) -> None:
        """Add a part of your own; a name that is taken is refused."""
        if name in self._parts:
            raise InputError(f"{self.kind} {name!r} exists already; choose another name")
        self._parts[name] = part

    def view(self, of: Callable[[T], U | None]) -> Mapping[str, U]:
        """A live mapping from names to ``of(part)``, without the parts for which that is ``None``."""
        return _View(self, of)


class _View(_Parts[U]):
    """The values of a function of the parts of a registry, by name."""

    def __init__(self, registry: Registry[T], of: Callable[[T], U | None]) -> None:
        self.kind, self._registry, self._of = registry.kind, registry, of

    @property
    def _parts(self) -> dict[str, U]:  # type: ignore[override]
        values = {name: self._of(part) for name, part in self._registry.items()}
        return {name: value for name, value in values.items() if value is not None}
