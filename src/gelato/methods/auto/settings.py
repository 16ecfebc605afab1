"""Settings of the automatic choice of a method."""

from dataclasses import dataclass

from gelato.prediction.settings import Settings, checked, number, whole


@dataclass(frozen=True, kw_only=True)
class AutoSettings(Settings):
    """How long methods may be compared, and how they are run.

    Attributes:
        budget: minutes for the comparison; a method that would take longer than what is left is skipped.
        random_state: seed of the validation links, and of the methods that draw anything.
        device: where networks are trained: ``auto``, ``cpu``, ``cuda`` or ``cuda:1``.
    """

    budget: float = number(10.0)
    random_state: int = whole(0, 0)
    device: str = checked("auto", lambda value: isinstance(value, str), "be the name of a device")
