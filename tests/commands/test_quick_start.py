"""What a user waits for before a first word: help and a wrong target need nothing of what analyses and draws."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
from dbdyno.commands.app import run
codes = [run(["--version"]), run(["profile", "--help"]), run(["profile", "0"]), run(["compare", "/", "/"])]
slow = {"numpy", "scipy", "plotly", "jinja2"} & set(sys.modules)
print(codes, sorted(slow), file=sys.stderr)
"""


def test_help_and_wrong_targets_come_without_numpy() -> None:
    """Their import takes longer than all the rest: it waits until something was measured or read."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)

    assert done.stderr.splitlines()[-1] == "[0, 0, 2, 2] []"
