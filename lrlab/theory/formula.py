"""Formulas in z as functions of arrays: Python's parser reads them, and only listed operations apply.

In addition to Python's syntax, ^ and ² are powers, 2z and (z + 1)(z - 1) are products, sin 3z is sin(3*z). lrlab
rejects ambiguous formulas, such as 1/2z and sin 2*z.
"""

import ast
import re
from collections.abc import Callable
from functools import lru_cache, reduce
from typing import Any, NamedTuple, NoReturn

import numpy as np
from scipy.special import erf

from lrlab.arrays import Array
from lrlab.parameters import InputError

LONGEST = 200
Function = Callable[[Array], Array]

FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "abs": np.abs,
    "sign": np.sign,
    "sin": np.sin,
    "cos": np.cos,
    "exp": np.exp,
    "tanh": np.tanh,
    "erf": erf,
}
EXTREMES: dict[str, Callable[[Array, Array], Array]] = {"min": np.minimum, "max": np.maximum}
OPERATIONS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.MatMult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
    ast.UAdd: np.positive,
    ast.USub: np.negative,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
"""Meanings of Python's operators; @ stands for a product without a sign."""
NAMES = ("z", *FUNCTIONS, *EXTREMES)
TYPESET = str.maketrans({"\u2212": "-", "\u00b7": "*", "\u00d7": "*", "^": "**", "²": "**2 ", "³": "**3 "})
NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
BARE = rf"((?:{NUMBER}\s*)?(?:z\b(?:\s*\*\*\s*{NUMBER})?)?)(?<=[\w.])"
TERM = re.compile(rf"\b({'|'.join(FUNCTIONS)})\s+{BARE}(?=\s*(.?))")
"""A function with an argument without brackets, and the character after it."""
TOKEN = re.compile(rf"\s*(?:({NUMBER})|([A-Za-z_]\w*)|(\*\*|[<>=!]=|[-+*/()<>,])|(\S))", re.A)


class Formula(NamedTuple):
    """A function of z, and its switches: functions whose changes of sign mark possible jumps and kinks."""

    value: Function
    switches: tuple[Function, ...]

    def __call__(self, z: Array | float) -> Array:
        """Return the values at z; not finite outside the domain."""
        z = np.asarray(z, dtype=float)
        with np.errstate(all="ignore"):
            return np.broadcast_to(np.asarray(self.value(z), dtype=float), z.shape)


@lru_cache(maxsize=1024)
def parse(text: str) -> Formula:
    """Return the formula in a text; InputError with the mistake if there is none."""
    if len(text) > LONGEST:
        raise InputError("link", f"at most {LONGEST} characters", f"{len(text)}", "shorten the formula")
    reader = _Reader(text)
    try:
        tree = ast.parse(reader.written_out(), mode="eval")
    except (SyntaxError, MemoryError, RecursionError):
        reader.fail("write operators between its parts and close all brackets, as in (z > 1) - sin(2*z)")
    return Formula(reader.function(tree.body), tuple(reader.switches))


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.switches = text, list[Function]()

    def fail(self, remedy: str) -> NoReturn:
        """Raise the error."""
        raise InputError("link", "a formula in z", self.text.strip() or "none", remedy)

    def written_out(self) -> str:
        """Return the text in Python's syntax, with @ for products without a sign."""
        tokens, operand = list[str](), False
        for number, name, symbol, other in TOKEN.findall(TERM.sub(self._bracketed, self.text.translate(TYPESET))):
            if other or name and name not in NAMES:
                self.fail(f'use z, numbers, operators and {", ".join(NAMES[1:])} instead of "{other or name}"')
            if number and not np.isfinite(float(number)):
                self.fail("write a smaller number")
            if operand and (name or symbol == "("):
                tokens.append("@")
            tokens.append(repr(float(number)) if number else name or symbol)
            operand = bool(number) or name == "z" or symbol == ")"
        return " ".join(tokens)

    def _bracketed(self, match: re.Match[str]) -> str:
        name, term, behind = match.groups()
        if behind and behind in "(z*/.0123456789":
            self.fail(f"write brackets about what {name} is applied to")
        return f"{name}({term})"

    def function(self, node: ast.AST) -> Function:
        """Return the function of a syntax tree, and note its switches."""
        match node:
            case ast.Constant():
                constant = np.asarray(node.value)
                return lambda z: constant
            case ast.Name(id="z"):
                return lambda z: z
            case ast.UnaryOp():
                apply, inner = OPERATIONS[type(node.op)], self.function(node.operand)
                return lambda z: apply(inner(z))
            case ast.BinOp(left=left, op=op):
                # In brackets the left part begins behind the whole.
                divided = isinstance(left, ast.BinOp) and isinstance(left.op, ast.Div)
                if isinstance(op, ast.MatMult) and divided and left.col_offset == node.col_offset:
                    self.fail("write * or brackets, for 1/2z may be (1/2)*z or 1/(2*z)")
                return self._both(OPERATIONS[type(op)], self.function(left), self.function(node.right))
            case ast.Compare(ops=[op], comparators=[right]):
                return self._switched(OPERATIONS[type(op)], self.function(node.left), self.function(right))
            case ast.Call(func=ast.Name(id=name), args=[argument]) if name in FUNCTIONS:
                apply, inner = FUNCTIONS[name], self.function(argument)
                if name in ("abs", "sign"):
                    self.switches.append(inner)
                return lambda z: apply(inner(z))
            case ast.Call(func=ast.Name(id=name), args=[_, _, *_]) if name in EXTREMES:
                parts = [self.function(argument) for argument in node.args]
                return reduce(lambda left, right: self._switched(EXTREMES[name], left, right), parts)
        self.fail("give a function one argument, min and max two or more, and compare two numbers at a time")

    def _both(self, apply: Callable[..., Any], left: Function, right: Function) -> Function:
        return lambda z: apply(left(z), right(z))

    def _switched(self, apply: Callable[..., Any], left: Function, right: Function) -> Function:
        self.switches.append(lambda z: left(z) - right(z))
        return lambda z: np.asarray(apply(left(z), right(z)), dtype=float)
