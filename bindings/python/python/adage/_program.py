"""The program ``adage``: the same as the one that cargo installs."""

from __future__ import annotations

import os
import shutil
import signal
import sys

from . import _native


def main() -> None:
    """Runs the program on the process's command line, and exits with its code."""
    # An interrupt ends the program, or is handled by it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    words = ["adage", *sys.argv[1:]]
    code = _native.run(words, _script())
    sys.stdout.flush()
    # Threads of the program do not outlive it.
    os._exit(code)


def _script() -> str | None:
    """The file that runs this program again, for hooks and background processes; None if it is not known."""
    called = sys.argv[0]
    if os.path.basename(called) == "__main__.py":
        called = os.path.join(os.path.dirname(sys.executable), "adage")
    found = shutil.which(called)
    return os.path.abspath(found) if found else None


if __name__ == "__main__":
    main()
