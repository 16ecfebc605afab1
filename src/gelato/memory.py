"""Memory of this process."""

import sys


def peak_memory() -> int:
    """Largest resident size of this process so far, in bytes."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
