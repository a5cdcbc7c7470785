"""The versions of requirements-lock.txt: licenses and sizes, and known flaws.

python -m benchmarks.dependencies --write     the table of docs/dependencies.md, from what is installed
python -m benchmarks.dependencies --audit     known flaws, by pip-audit; status 1 where there is one
"""

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCK, DOCUMENT = ROOT / "requirements-lock.txt", ROOT / "docs" / "dependencies.md"
HEADING = "## Table\n"
MB = 1e6
DATABASES = ("pypi", "osv")
LONGEST = 60
"""Characters of a license: some distributions put its whole text there."""


def locked() -> dict[str, list[str]]:
    """Return the names in the lock, each with those that need it; `requirements` for what is asked for directly."""
    needed = dict[str, list[str]]()
    for entry in re.split(r"^(?=[a-z0-9])", LOCK.read_text(), flags=re.MULTILINE)[1:]:
        name, _, comment = entry.partition("==")
        users = re.findall(r"^ +# +(?:via +)?(\S.*)$", comment, re.MULTILINE)
        known = needed.setdefault(name, [])
        known += [user for user in users if user != "via" and user not in known]
    return needed


def license_of(found: Distribution) -> str:
    """Return the license that a distribution states: its expression, its classifiers, or its own words."""
    stated = found.metadata.get("License-Expression", "")
    classifiers = found.metadata.get_all("Classifier", [])
    named = [text.rpartition(" :: ")[2] for text in classifiers if text.startswith("License ::")]
    own = found.metadata.get("License", "").strip().partition("\n")[0]
    return stated or ", ".join(named) or own[:LONGEST] or "not stated"


def megabytes(found: Distribution) -> float:
    """Return the size of the files of a distribution, without what Python compiles of them."""
    paths = [Path(str(file.locate())) for file in found.files or () if file.suffix != ".pyc"]
    return sum(path.stat().st_size for path in paths if path.is_file()) / MB


def rows() -> Iterator[tuple[float, str]]:
    """Yield the size of each distribution and its line of the table."""
    for name, users in locked().items():
        try:
            found = distribution(name)
        except PackageNotFoundError:
            yield 0.0, f"| {name} | {', '.join(users)} | not on this system | |"
        else:
            size = megabytes(found)
            yield size, f"| {name} | {', '.join(users)} | {license_of(found)} | {size:.1f} |"


def write() -> None:
    """Write the table, largest first."""
    made = sorted(rows(), key=lambda row: (-round(row[0], 1), row[1]))
    head = DOCUMENT.read_text().partition(HEADING)[0]
    total = f"{sum(size for size, _ in made):.0f} MB together, without compiled bytecode; made by `make licenses`.\n"
    table = ["| distribution | needed by | license | MB |", "|---|---|---|---|", *(line for _, line in made)]
    DOCUMENT.write_text(f"{head}{HEADING}\n{total}\n" + "\n".join(table) + "\n")


def audit() -> int:
    """Print known flaws of the locked versions, or that no database of them can be reached; return the exit status."""
    for database in DATABASES:
        command = [sys.executable, "-m", "pip_audit", "--service", database, "--format", "json", "--progress-spinner"]
        command += ["off", "--require-hashes", "--disable-pip", "--requirement", str(LOCK)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        known = json.loads(done.stdout)["dependencies"] if done.stdout.startswith("{") else []
        if audited := [one for one in known if "skip_reason" not in one]:
            return report(audited, [one["name"] for one in known if "skip_reason" in one])
    print(f"Not audited: neither database of pip-audit ({', '.join(DATABASES)}) can be reached from here.")
    return 0


def report(audited: list[dict], skipped: list[str]) -> int:
    """Print what is known of the audited distributions; return the exit status."""
    for one in audited:
        for flaw in one["vulns"]:
            fixed = ", ".join(flaw["fix_versions"]) or "no version yet"
            print(f"{one['name']} {one['version']}: {flaw['id']}, repaired in {fixed}")
    flawed = sum(bool(one["vulns"]) for one in audited)
    print(
        f"{len(audited)} audited, {flawed} with known flaws."
        + f" Not known there: {', '.join(skipped)}." * bool(skipped)
    )
    return int(flawed > 0)


def main() -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("--write", action="store_true")
    choice.add_argument("--audit", action="store_true")
    if parser.parse_args().audit:
        return audit()
    write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
