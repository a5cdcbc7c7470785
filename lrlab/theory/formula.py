"""Formulas in z as functions of arrays: a parser by recursive descent, which never runs a text as Python.

comparison  sum [(< | <= | > | >= | == | !=) sum]                    1 where it holds, else 0
sum         product {(+ | -) product}
product     unary {(* | /) unary | power}                            2z is 2*z; 1/2z, of two meanings, is refused
unary       (- | +) unary | power
power       atom [^ unary]                                           -z^2 is -(z^2), 2^3^2 is 2^(3^2), z² is z^2
atom        number | z | name(comparison {, comparison}) | name term | (comparison)
term        [number] [z [^ number]]                                  sin 3z is sin(3*z); sin 3z*2 is refused
"""

import operator
from collections.abc import Callable
from functools import lru_cache, partial, reduce
from typing import NamedTuple

import numpy as np
from scipy.special import erf

from lrlab.arrays import Array
from lrlab.parameters import InputError
from lrlab.theory.formula_tokens import TYPESET, Token, read

LONGEST = 200
DEEPEST = 20
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
COMPARISONS: dict[str, Callable[[Array, Array], Array]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}
SUMS = {"+": operator.add, "-": operator.sub}
PRODUCTS = {"*": operator.mul, "/": operator.truediv}
POWERS = {"²": 2.0, "³": 3.0}


class Formula(NamedTuple):
    """A function of z, and the functions in it whose changes of sign are where it may jump or bend."""

    value: Function
    switches: tuple[Function, ...]

    def __call__(self, z: Array | float) -> Array:
        """Return the values at z; not finite where it is not defined."""
        z = np.asarray(z, dtype=float)
        with np.errstate(all="ignore"):
            return np.broadcast_to(np.asarray(self.value(z), dtype=float), z.shape)


@lru_cache(maxsize=1024)
def parse(text: str) -> Formula:
    """Return the formula that a text says; InputError with the place where it says none."""
    if len(text) > LONGEST:
        raise InputError("link", f"at most {LONGEST} characters", f"{len(text)}", "shorten the formula")
    parser = _Parser(text)
    value = parser.comparison(0)
    if parser.next.kind != "end":
        parser.fail("an operator or the end")
    return Formula(value, tuple(parser.switches))


class _Parser:
    def __init__(self, text: str) -> None:
        self.text, self.place, self.switches = text.translate(TYPESET), 0, list[Function]()
        self.next = self.read()

    def read(self) -> Token:
        """Return the next token."""
        token, self.place = read(self.text, self.place)
        return token

    def take(self, *symbols: str) -> str:
        """Return the next token if it is one of these symbols, and move on; else nothing."""
        if self.next.kind != "symbol" or self.next.text not in symbols:
            return ""
        taken, self.next = self.next.text, self.read()
        return taken

    def fail(self, expected: str) -> None:
        """Raise the sentence that names the place."""
        got = self.next.text if self.next.kind == "end" else f'"{self.next.text}"'
        remedy = f"at character {self.next.place} write {expected} instead of {got}"
        raise InputError("link", "a formula in z", self.text or "none", remedy)

    def comparison(self, depth: int) -> Function:
        left = self.sum(depth)
        if not (symbol := self.take(*COMPARISONS)):
            return left
        right, holds = self.sum(depth), COMPARISONS[symbol]
        self.switches.append(lambda z: left(z) - right(z))
        return lambda z: holds(left(z), right(z)).astype(float)

    def sum(self, depth: int) -> Function:
        first, rest = self.product(depth), list[tuple[Callable, Function]]()
        while symbol := self.take(*SUMS):
            rest.append((SUMS[symbol], self.product(depth)))
        return combined(first, rest)

    def product(self, depth: int) -> Function:
        first, rest, symbol = self.unary(depth), list[tuple[Callable, Function]](), ""
        while True:
            previous, symbol = symbol, self.take(*PRODUCTS)
            if symbol:
                rest.append((PRODUCTS[symbol], self.unary(depth)))
            elif self.next.kind == "name" or self.next.text == "(":
                if previous == "/":
                    self.fail("* or brackets, for 1/2z may be (1/2)*z or 1/(2*z),")
                rest.append((operator.mul, self.power(depth)))
            else:
                return combined(first, rest)

    def unary(self, depth: int) -> Function:
        if depth > DEEPEST:
            raise InputError("link", f"nested at most {DEEPEST} deep", self.text, "simplify the formula")
        if symbol := self.take("-", "+"):
            inner = self.unary(depth + 1)
            return (lambda z: -inner(z)) if symbol == "-" else inner
        return self.power(depth)

    def power(self, depth: int) -> Function:
        base = self.atom(depth)
        if symbol := self.take(*POWERS):
            number = POWERS[symbol]
            return lambda z: np.power(base(z), number)
        if not self.take("^", "**"):
            return base
        exponent = self.unary(depth + 1)
        return lambda z: np.power(base(z), exponent(z))

    def atom(self, depth: int) -> Function:
        token = self.next
        if token.kind == "number":
            number = np.asarray(float(token.text))
            if not np.isfinite(number):
                self.fail("a smaller number")
            self.next = self.read()
            return lambda z: number
        if token.kind == "name":
            return self.named(token, depth)
        if not self.take("("):
            self.fail("a number, z, a function or (")
        inner = self.comparison(depth + 1)
        if not self.take(")"):
            self.fail(")")
        return inner

    def named(self, token: Token, depth: int) -> Function:
        name = token.text
        if name != "z" and name not in FUNCTIONS and name not in EXTREMES:
            self.fail(f"z or one of {', '.join((*FUNCTIONS, *EXTREMES))}")
        self.next = self.read()
        if name == "z":
            return lambda z: z
        if name in FUNCTIONS and (self.next.kind == "number" or self.next.text == "z"):
            return self.applied(name, self.term(depth))
        if not self.take("("):
            self.fail("(")
        given = [self.comparison(depth + 1)]
        while name in EXTREMES and self.take(","):
            given.append(self.comparison(depth + 1))
        if name in EXTREMES and len(given) < 2:
            self.fail(f", and a second argument of {name}")
        if not self.take(")"):
            self.fail(")")
        if name in EXTREMES:
            return reduce(partial(self.extreme, EXTREMES[name]), given)
        return self.applied(name, given[0])

    def term(self, depth: int) -> Function:
        """Return what a name without brackets is applied to; what may belong to it or not needs brackets."""
        first, rest = self.power(depth), list[tuple[Callable, Function]]()
        if self.next.text == "z":
            rest.append((operator.mul, self.power(depth)))
        if self.next.text in ("(", "z", *PRODUCTS) or self.next.kind == "number":
            self.fail("brackets about what the function is applied to")
        return combined(first, rest)

    def applied(self, name: str, inner: Function) -> Function:
        apply = FUNCTIONS[name]
        if name in ("abs", "sign"):
            self.switches.append(inner)
        return lambda z: apply(inner(z))

    def extreme(self, choose: Callable[[Array, Array], Array], left: Function, right: Function) -> Function:
        self.switches.append(lambda z: left(z) - right(z))
        return lambda z: choose(left(z), right(z))


def combined(first: Function, rest: list[tuple[Callable, Function]]) -> Function:
    """Return the function that combines values from the left."""
    return (lambda z: reduce(lambda total, part: part[0](total, part[1](z)), rest, first(z))) if rest else first
