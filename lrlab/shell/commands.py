"""The commands of the shell, and what becomes of everything that ends one."""

import sys
from collections.abc import Sequence

import lrlab
from lrlab import extras
from lrlab.parameters import InputError
from lrlab.shell import app, common, fit, new, solve, sweep
from lrlab.shell.common import BAD_INPUT, DONE, FAILED, INTERRUPTED, Parser

COMMANDS = ("app", "models", "solve", "sweep", "store", "paper", "fit", "recover", "predict", "new")
"""Names of the commands, with aliases."""


def parser() -> Parser:
    """Return the parser of the command line."""
    top = Parser(
        prog="python -m lrlab", description="Recover structured signals from few, quantized or missing measurements."
    )
    top.add_argument("--version", action="version", version=f"lrlab {lrlab.__version__}")
    commands = top.add_subparsers(dest="command", required=True, parser_class=Parser, metavar="COMMAND")
    for module in (app, solve, sweep, fit, new):
        module.add(commands)
    return top


def run(arguments: Sequence[str] | None) -> int:
    """Run a command and return its exit status; whatever ends it is one sentence on standard error."""
    try:
        try:
            options = parser().parse_args(arguments)
        except SystemExit as end:
            # After --help or --version, or a wrong argument.
            status = int(end.code or DONE)
        else:
            with extras.named():
                status = options.run(options)
        common.flush()
        return status
    except BrokenPipeError:
        # The reader has closed the pipe, as `head` does.
        common.drop_output()
        return DONE
    except KeyboardInterrupt as end:
        # Trials may be running: the engine cannot cancel them quietly once the interpreter ends.
        if engine := sys.modules.get("lrlab.engine.engine"):
            engine.close_engines()
        common.complain(f"Interrupted. {end}".rstrip())
        return INTERRUPTED
    except OSError as error:
        reason = error.strerror or error
        if error.filename == common.OUTPUT:
            common.drop_output()
        if error.filename in (None, common.OUTPUT):
            where = error.filename or "A file"
            common.complain(f"{where} cannot be used ({reason}): free space, or write elsewhere.")
            return FAILED
        common.complain(InputError("file", f"one that can be used ({reason})", error.filename, "name another"))
        return BAD_INPUT
    except (InputError, RuntimeError) as error:
        # A RuntimeError is the engine's message about a failed trial or lost workers, or a numerical breakdown.
        common.complain(error)
        return BAD_INPUT if isinstance(error, InputError) else FAILED
    except MemoryError:
        common.complain("There is not enough memory: take a smaller problem.")
        return FAILED
