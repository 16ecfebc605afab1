"""Memory of the process: what it takes, the cap of ``--memory``, and arrays that are read where they lie in a file."""
