"""Puts what is ahead and what is behind at the head of benchmarks/RESULTS.md: python -m benchmarks.summary.

Reads the tables of `benchmarks.peers` that are there; nothing is measured.
"""

import re

from benchmarks.peers.report import RESULTS

TITLE = "In short: ahead and behind"
CONTEST = re.compile(
    r"^\*\*(?P<title>.+?)\*\*.*\n\n(?P<head>\| method .*)\n\|[-|]+\|\n(?P<rows>(?:\|.*\n?)+)", re.MULTILINE
)
MEASURED = re.compile(r"quartiles of the ratio\. (.+)")
"""Machine and versions, as a section of peers begins with them."""
HEAD = "| work | of lrlab | error | beside | error | lrlab takes |\n|---|---|---|---|---|---|"


def cells(line: str) -> list[str]:
    """Return the cells of a row of a table."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def lines(text: str) -> list[str]:
    """Return a row for each method of the lab beside each peer of its table, the largest advantage first."""
    ratios = list[tuple[float, str]]()
    for contest in CONTEST.finditer(text):
        own = [name.removesuffix(" takes") for name in cells(contest["head"])[3:]]
        rows = {name: rest for name, *rest in map(cells, contest["rows"].splitlines())}
        for name in own:
            for peer, (error, *rest) in rows.items():
                if peer in own or not rest or not (times := rest[1 + own.index(name)]):
                    continue
                ratio, (title, mine) = float(times.split()[0]), (contest["title"], rows[name][0])
                ratios.append((ratio, f"| {title} | {name} | {mine} | {peer} | {error} | {times} |"))
    return [line for _, line in sorted(ratios)]


def main() -> None:
    """Write the section, before all others."""
    text = re.sub(rf"^## {TITLE}\n.*?(?=^## )", "", RESULTS.read_text(), flags=re.MULTILINE | re.DOTALL)
    head, first, rest = text.partition("\n## ")
    words = (
        "`lrlab` recovers structured signals. Here each of its solvers does the same work as what one would install"
        " instead, on the same data and one BLAS thread: processor time as a multiple of the other's, with quartiles;"
        f" below 1 is ahead. All figures are in the sections *Speed*. {' '.join(dict.fromkeys(MEASURED.findall(text)))}"
    )
    table = "\n".join([HEAD, *lines(text)])
    RESULTS.write_text(f"{head.rstrip()}\n\n## {TITLE}\n\n{words}\n\n{table}\n{first}{rest}")


if __name__ == "__main__":
    main()
