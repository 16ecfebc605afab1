"""What holds for every test: hypothesis without deadlines, since the first call of a kernel compiles it."""

from hypothesis import settings

settings.register_profile("gelato", deadline=None, derandomize=True)
settings.load_profile("gelato")
