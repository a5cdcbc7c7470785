"""The same jobs from a shell: python -m lrlab COMMAND.

It imports the commands inside `main`, which takes a second, so that it handles Ctrl-C and stray output there too.
"""

import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import NoReturn


def end_at_once(*_: object) -> NoReturn:
    """End the process: nothing runs during imports, and a KeyboardInterrupt there may surface as another error."""
    os.write(2, b"Interrupted.\n")
    os._exit(130)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status: 0 done, 1 failed, 2 bad input, 130 Ctrl-C."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, end_at_once) if in_main_thread else None
    try:
        from lrlab.shell import common

        with common.separate_output():
            from lrlab.shell import commands

            if in_main_thread:
                signal.signal(signal.SIGINT, commands.interrupt)
            return commands.run(arguments)
    finally:
        if in_main_thread:
            signal.signal(signal.SIGINT, before)


if __name__ == "__main__":
    sys.exit(main())
