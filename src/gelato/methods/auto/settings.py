"""Settings of the automatic choice of a method."""

from dataclasses import dataclass

from gelato.prediction.options import Settings, number, text, whole_number


@dataclass(frozen=True, kw_only=True)
class AutoSettings(Settings):
    """How long methods may be compared, and how they are run.

    Attributes:
        budget: minutes for everything, from reading to reasons; a method that would take longer than what is left, with
            the trials that follow if it wins, is skipped.
        random_state: seed of the validation links, and of the methods that draw anything.
        device: where networks are trained: ``auto``, ``cpu``, ``cuda`` or ``cuda:1``.
    """

    budget: float = number(3.0)
    random_state: int = whole_number(0, 0)
    device: str = text("auto", "be the name of a device")
