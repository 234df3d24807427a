"""``python -m adage``."""

from ._program import main

main()
