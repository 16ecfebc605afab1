"""``python -m gelato``: the command ``gelato``."""

from gelato.cli import main

raise SystemExit(main())
