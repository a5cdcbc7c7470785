"""Random input for tests: its number, and correct texts and files with random changes.

The suite always tries the same few. `LRLAB_FUZZ=10000 pytest tests/fuzz` (`make soak`) tries that many new ones.
"""

import io
import os
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

ALL = int(os.environ.get("LRLAB_FUZZ", "0"))
SHARES = {"readers": 0.44, "models": 0.12, "definitions": 0.22, "shell": 0.1, "addresses": 0.12}
"""Fractions of all examples: pages take a hundred times as long as readers."""
NUMBERS = (
    "0", "-1", "1", "2", "3", "7", "40", "1e9", "1000000000", "-0", "0.5", "1e-320", "1e308", "-1e308", "1e999", "nan",
    "inf", "-inf", "9" * 400, "1_000", "0x10", "007", "+5", "1.", ".5", "1e", "--1", "\uff15", "\u0663", "1,5",
    "2147483648", "18446744073709551616",
)  # fmt: skip
WORDS = (
    "", " ", "true", "no", "none", "random", "auto", "NaN", "<script>alert(1)</script>", "$x$ **b** :red[c]",
    "../../etc/passwd", "/dev/zero", "=cmd()", "'\"`", "{}", "[]", "\x00", "\u202e", "\ud7ff\U0010ffff", "\r\n", "a\nb",
    "%s%n", "e\u0301", "x" * 5000,
)  # fmt: skip
TOKENS = st.one_of(
    st.sampled_from([*NUMBERS, *WORDS, *"{}[]()<>,;:=#%@?!'\"\\\t\n \x00", "\ufeff", "\x1a", "@data", "qid:1", '"""']),
    st.text(max_size=4),
)


def drawn(share: str, few: int, *strategies: Any, **named: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return hypothesis's `given` with its settings: `few` examples, or the share of a long run, by parts of 1."""
    name, _, part = share.partition(":")
    many = int(ALL * SHARES[name] * float(part or 1.0))

    return lambda test: settings(max_examples=many or few)(given(*strategies, **named)(test))


@st.composite
def changed(draw: Any, contents: Sequence[Any], tokens: Any = TOKENS) -> Any:
    """Return a text, or bytes, with up to four parts removed, doubled, cut off or replaced."""
    content = draw(st.sampled_from(list(contents)))
    comma, space = (",", " ") if isinstance(content, str) else (b",", b" ")
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(content)))
        stop = draw(st.integers(start, min(len(content), start + draw(st.sampled_from([0, 1, 8, 200])))))
        words = content.replace(comma, space).split()
        match draw(st.integers(0, 4)):
            case 0:
                content = content[:start] + content[stop:]
            case 1:
                place = draw(st.integers(0, len(content)))
                content = content[:place] + content[start:stop] + content[place:]
            case 2:
                content = content[:start] + content[:0].join(draw(st.lists(tokens, max_size=3))) + content[stop:]
            case 3 if words:
                content = content.replace(draw(st.sampled_from(words)), draw(tokens), 1)
            case _:
                content = content[:stop]
    return content


def changed_bytes(contents: Sequence[bytes]) -> Any:
    """Return a strategy of bytes, changed in the same ways."""
    return changed(contents, st.one_of(st.binary(max_size=6), st.sampled_from([b"\0" * 4, b"\xff" * 8, b"\x7f\xff"])))


@st.composite
def changed_archive(draw: Any, archives: Sequence[bytes], arrays: Any) -> bytes:
    """Return an archive of arrays, some of them replaced, renamed or left out."""
    with zipfile.ZipFile(io.BytesIO(draw(st.sampled_from(list(archives))))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    names = sorted(members)
    for name in draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True)):
        content = members.pop(name)
        if draw(st.integers(0, 5)):
            renamed = draw(st.sampled_from([name, name, name, *names]))
            members[renamed] = draw(st.one_of(st.just(content), changed_bytes([content]), arrays, arrays))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", draw(st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()
