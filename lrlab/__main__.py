"""The same jobs from a shell: python -m lrlab COMMAND.

It imports the commands inside `main`, which takes a second, so that it handles Ctrl-C and stray output there too.
"""

import signal
import sys
import threading
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status: 0 done, 1 failed, 2 bad input, 130 Ctrl-C."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    # Ctrl-C ends the process during imports: nothing runs, and a KeyboardInterrupt may surface as another error.
    before = signal.signal(signal.SIGINT, signal.SIG_DFL) if in_main_thread else None
    try:
        from lrlab.shell import common

        with common.separate_output():
            from lrlab.shell import commands

            if in_main_thread:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            return commands.run(arguments)
    finally:
        if in_main_thread:
            signal.signal(signal.SIGINT, before)


if __name__ == "__main__":
    sys.exit(main())
