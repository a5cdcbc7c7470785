"""The same jobs from a shell: python -m lrlab COMMAND."""

import os
import sys
from collections.abc import Sequence

from lrlab import extras
from lrlab.parameters import InputError
from lrlab.shell import app, explain, fit, models, new, paper, predict, recover, solve, store, sweep
from lrlab.shell.common import BAD_INPUT, DONE, FAILED, INTERRUPTED, TERMINATED, Parser, Terminated, say

COMMANDS = {
    "app": app,
    "models": models,
    "solve": solve,
    "recover": recover,
    "sweep": sweep,
    "store": store,
    "paper": paper,
    "fit": fit,
    "predict": predict,
    "explain": explain,
    "new": new,
}


def parser() -> Parser:
    """Return the parser of the command line."""
    top = Parser(
        prog="python -m lrlab", description="Recover structured signals from few, quantised or missing measurements."
    )
    commands = top.add_subparsers(dest="command", required=True, parser_class=Parser, metavar="COMMAND")
    for command in COMMANDS.values():
        command.add(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status: 0 done, 1 failed, 2 bad input, 130 Ctrl-C, 143 SIGTERM."""
    options = parser().parse_args(arguments)
    try:
        with extras.named():
            status = COMMANDS[options.command].run(options)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader has closed the pipe, as `head` does. The rest of the buffer must not raise an error at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except InputError as error:
        say(error, file=sys.stderr)
        return BAD_INPUT
    except RuntimeError as error:
        # The engine's message about a failed trial or lost workers, or a solver's numerical breakdown.
        say(error, file=sys.stderr)
        return FAILED
    except KeyboardInterrupt as end:
        # Trials may be running: the engine cannot cancel them quietly once the interpreter ends.
        if engine := sys.modules.get("lrlab.engine.engine"):
            engine.close_engines()
        terminated = isinstance(end, Terminated)
        say(f"{'Terminated' if terminated else 'Interrupted'}. {end}".rstrip(), file=sys.stderr)
        return TERMINATED if terminated else INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
