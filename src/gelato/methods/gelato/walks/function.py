"""Functions with a gradient of their own, called with their types: torch leaves ``Function.apply`` untyped."""

from typing import Any, Protocol, TypeVar

T_co = TypeVar("T_co", covariant=True)


class Differentiable(Protocol[T_co]):
    """A subclass of ``torch.autograd.Function``: what ``forward`` gives, ``apply`` gives with a gradient."""

    def forward(self, *arguments: Any, **options: Any) -> T_co:
        """The result, from the context and the arguments."""

    def apply(self, *arguments: Any, **options: Any) -> Any:
        """The same from the arguments, recorded for the way back."""


def applied(function: Differentiable[T_co], *arguments: Any) -> T_co:
    """``function.apply(*arguments)``, of the type that its ``forward`` returns."""
    result: T_co = function.apply(*arguments)
    return result
