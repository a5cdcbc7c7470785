"""Writes to benchmarks/RESULTS.md when `make soak` last came to its end, and on which commit."""

import subprocess
import time

from benchmarks.peers.report import write_section


def main() -> None:
    """Replace the section."""
    commit = subprocess.check_output(["git", "describe", "--always", "--dirty"], text=True).strip()
    today = time.strftime("%d %B %Y")
    write_section("Soak", f"`make soak` last ended without a failure on {today}, at commit {commit}.")


if __name__ == "__main__":
    main()
