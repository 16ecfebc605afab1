"""What a call is refused with."""

import pytest

from gelato.errors import InputError


def refusal(call, *args, **options):
    """The message of the error, which fits on a line."""
    with pytest.raises(InputError) as caught:
        call(*args, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)
