"""Links given by a formula in z, checked to stay within -1..1.

Python's parser reads a formula, and only listed operations apply. In addition to Python's syntax, ^ and ² are powers,
2z and (z + 1)(z - 1) are products, sin 3z is sin(3*z). lrlab rejects ambiguous formulas, such as 1/2z and sin 2*z.
"""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any, NamedTuple, NoReturn

import numpy as np
from scipy.special import erf

from lrlab.arrays import Array
from lrlab.parameters import InputError
from lrlab.theory.links import Link
from lrlab.theory.smoothing import base_moments, smoothed

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
READY = {
    "sin z": "sin(z)",
    "sin 2z": "sin(2*z)",
    "cos 2z": "cos(2*z)",
    "cubic": "max(-1, min(1, (z^3 - 3*z)/2))",
    "three levels": "(z > 1) - (z < -1)",
    "offset band": "2*(z > 0.5)*(z < 1.5) - 1",
    "bump": "2*exp(-z^2) - 1",
}
"""Names that stand for formulas."""
REACH = 100.0
"""lrlab checks a formula for |z| up to this, ten standard deviations of the noisiest index; it is constant beyond."""


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


@lru_cache(maxsize=256)
def checked(text: str) -> Formula:
    """Return the formula of a text or of a name in READY; InputError if it is invalid or leaves -1..1."""
    parsed = parse(READY.get(text, text))
    grid = _grid()
    values = parsed(grid)
    wrong = ~(np.abs(values) <= 1.0 + 1e-9)
    if wrong.any():
        # The place that is nearest to 0 is the one that matters most.
        worst = np.flatnonzero(wrong)[np.argmin(np.abs(grid[wrong]))]
        what = f"{values[worst]:.10g} at z = {grid[worst]:.4g}"
        remedy = "scale it, or bound it: max(-1, min(1, ...))"
        raise InputError("link", f"finite and within -1..1 for |z| <= {REACH:g}", what, remedy)
    return parsed


@dataclass(frozen=True)
class FormulaLink(Link):
    """A link whose f0 is a formula in z."""

    text: str = "sin 2z"

    def sharp(self, index: Array) -> Array:  # noqa: D102
        values = checked(self.text)(np.clip(index, -REACH, REACH))
        return np.clip(np.nan_to_num(values), -1.0, 1.0)

    def smooth(self, index: Array) -> Array:  # noqa: D102
        return smoothed(FormulaLink(text=self.text), index, self.noise)[0] if self.noise > 0 else self.sharp(index)

    def breakpoints(self) -> tuple[float, ...]:  # noqa: D102
        return breakpoints(self.text)

    def sharp_moments(self) -> tuple[float, float, float]:  # noqa: D102
        m0, m1, m2 = base_moments(self, (lambda z: np.ones_like(z), lambda z: z, np.square))
        return m0, m1, m2


@lru_cache(maxsize=256)
def breakpoints(text: str) -> tuple[float, ...]:
    """Return possible jumps and kinks of a formula within the reach: the changes of sign of its switches."""
    grid, places = _grid(), list[float]()
    for switch in checked(text).switches:
        g = Formula(switch, ())
        places += _sign_changes(g, grid)
        values = g(grid)
        size, one_sign = np.abs(values), (values[1:-1] * values[:-2] > 0) & (values[1:-1] * values[2:] > 0)
        # Two changes of sign may hide between neighbors: search near the smallest sizes.
        low = 1 + np.flatnonzero(one_sign & (size[1:-1] <= size[:-2]) & (size[1:-1] < size[2:]))
        for node in low[np.argsort(np.abs(grid[low]))][:1001]:
            places += _sign_changes(g, np.linspace(grid[node - 1], grid[node + 1], 1001))
    return tuple(sorted(set(places)))


def _sign_changes(g: Formula, grid: Array) -> list[float]:
    signs = np.sign(g(grid))
    at = np.flatnonzero(signs[:-1] != signs[1:])
    left, right, before = grid[at], grid[at + 1], signs[at]
    for _ in range(60):
        middle = (left + right) / 2.0
        same = np.sign(g(middle)) == before
        left, right = np.where(same, middle, left), np.where(same, right, middle)
    return [float(place) for place in right]


@lru_cache(maxsize=1)
def _grid() -> Array:
    return np.arange(-round(REACH * 1000), round(REACH * 1000) + 1) * 0.001
