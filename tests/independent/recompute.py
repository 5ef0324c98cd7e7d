"""Every number of a findings document, recomputed from the run directory without dbdyno: on scipy and statsmodels.

    python tests/independent/recompute.py RUN_DIR [--findings FILE] [--all]

prints each number that differs (with --all, each number): its key, ours, the independent one, the difference. The
findings come from FILE, or from `dbdyno report RUN_DIR --json`. The exit code is 1 where a number differs by more than
1e-9 of its size, or where nobody recomputes it and `LEFT_OUT` does not say why.

Nothing here imports dbdyno; the rules are those of docs/findings.md and docs/how-we-decide.md.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent.parent))

from answer_numbers import tradeoffs
from arm_numbers import arm_numbers
from disturbance_numbers import carry_over, noise, steadiness
from index_numbers import index_numbers
from journal_reader import Blocks, Document, counted_blocks, counted_trials, read_run
from pair_numbers import Compared, comparisons, exploratory, interactions, null_arm, stopping
from time_numbers import SLOWEST, time_numbers

TOLERANCE = 1e-9
# Where two numbers nearly cancel, their rounding is left: of times in ns, and of anything else but p values.
NOTHING_NS, NOTHING = 1e-7, 1e-14

# What is not recomputed, and why: a pattern of keys, with [] for any place in a list.
LEFT_OUT = {
    r"(arms|comparisons)\[\]\.stacks\..*": (
        "widths are counts of stacks, shared out over the profile, which is recomputed;"
        " tests/analysis/test_stack_widths.py adds them up"
    ),
    r"arms\[\]\.checks\[\]\.(trials|failed_trials)": (
        "counts of judgements on plans, settings and sizes, which are words; tests/analysis/test_checks.py"
    ),
}


@dataclasses.dataclass(frozen=True)
class Line:
    """One value of the findings and what it should be; `missing` where nobody recomputed it."""

    key: str
    ours: Any
    independent: Any = None
    missing: bool = False

    @property
    def difference(self) -> float:
        """Relative; infinite for what is not even alike."""
        ours, theirs = self.ours, self.independent
        if ours == theirs and isinstance(ours, bool) == isinstance(theirs, bool):
            return 0.0
        if not all(isinstance(one, int | float) and not isinstance(one, bool) for one in (ours, theirs)):
            return math.inf
        apart = abs(ours - theirs)
        nothing = NOTHING_NS if re.search(r"[._]ns\b|difference", self.key) else NOTHING
        return 0.0 if apart <= nothing and "p_value" not in self.key else apart / max(abs(ours), abs(theirs))

    @property
    def agrees(self) -> bool:
        """Equal as far as rounding goes."""
        return not self.missing and self.difference <= TOLERANCE


def recompute(run: Document, machine: Document, trials: list[Document], findings: Document) -> Document:
    """A findings document with all of its numbers, and some of its words.

    Of the findings it takes what is no number: which warnings limit a verdict, which arms failed a check, and which
    band was asked for.
    """
    limited_by = [one["limited_by"] for one in findings["comparisons"]]
    slow = next(
        (
            (arm["tail"]["slow"]["from_share"], arm["tail"]["slow"]["to_share"])
            for arm in findings["arms"]
            if arm["tail"]
        ),
        SLOWEST,
    )
    blocks = counted_blocks(run, trials)
    arms = {}
    for arm in run["arms"]:
        if counted := counted_trials(arm["arm"], blocks, trials):
            arms[arm["arm"]] = _arm(run, machine, arm, counted, slow)
    compared = Compared(run, blocks)
    failed = {arm["arm"] for arm in findings["arms"] if any(check["failed_trials"] for check in arm["checks"])}
    pairs = comparisons(compared, arms, limited_by) if blocks else []
    timed = [arm["arm"] for arm in run["arms"] if arm.get("fixed_units") is None]
    return {
        "format": 1,
        **{key: run[key] for key in ("seed", "blocks", "margin", "metric")},
        "blocks_complete": len(blocks),
        "window_ns": max((_window_ns(run, arm, blocks, trials) for arm in timed), default=0),
        "arms": list(arms.values()),
        "comparisons": pairs,
        "exploratory": exploratory(compared, limited_by) if blocks else [],
        "interactions": interactions(compared, limited_by) if blocks else [],
        "null_arm": null_arm(compared, machine) if blocks else None,
        "stopping": stopping(compared, [pair["verdict"] for pair in pairs]),
        "indexes": index_numbers(compared, pairs, limited_by) if blocks else [],
        "noise": noise(run, blocks),
        "carry_over": carry_over(run, blocks, trials),
        "tradeoffs": tradeoffs(run, arms, failed, compared.logs) if blocks else [],
        "schedule": [{key: place[key] for key in ("trial", "block", "position")} for place in run["schedule"]],
        "machine": machine,
        "instrument": machine.get("instrument"),
    }


def _window_ns(run: Document, arm: str, blocks: Blocks, trials: list[Document]) -> int:
    return max((trial["outcome"]["window_ns"] for _, trial in counted_trials(arm, blocks, trials)), default=0)


def _arm(
    run: Document, machine: Document, arm: Document, counted: list[tuple[int, Document]], slow: tuple[float, float]
) -> Document:
    trials = [trial for _, trial in counted]
    servers = machine.get("servers")
    server = servers[arm["server"]] if servers and arm.get("server") is not None else machine["server"]
    numbers = arm_numbers(arm, counted, server.get("page_bytes", 8192), run.get("truth") or {})
    numbers |= {"steadiness": steadiness(arm, trials), "plans": _plans(trials)}
    of_time = time_numbers(trials, run["seed"], slow)
    for key in ("by_statement", "by_script"):
        own = zip(numbers[key], of_time.pop(key), strict=True)
        numbers[key] = [{**one, **parts} for one, parts in own]
    return {**numbers, **of_time}


def _plans(trials: list[Document]) -> list[Document]:
    """Line and EXPLAIN of each statement's most frequent plan."""
    seen: dict[tuple[str, int], list[Document]] = {}
    for plan in (plan for trial in trials for plan in trial.get("plans") or ()):
        seen.setdefault((plan["script"], plan["line"]), []).append(plan)
    found = []
    for (_, line), plans in seen.items():
        shape = Counter(plan["shape"] for plan in plans).most_common(1)[0][0]
        explain = next((p["explain"] for p in plans if p["shape"] == shape and p.get("explain")), None)
        found.append({"line": line, "explain": explain})
    return found


def compare(findings: Document, recomputed: Document) -> list[Line]:
    """Every number of the findings, and everything that was recomputed."""
    ours, theirs = dict(_leaves(findings)), dict(_leaves(recomputed))
    lines = [Line(key, ours.get(key, "absent"), value) for key, value in theirs.items()]
    numbers = [key for key, value in ours.items() if isinstance(value, int | float) and not isinstance(value, bool)]
    return lines + [Line(key, ours[key], missing=True) for key in numbers if key not in theirs and not left_out(key)]


def left_out(key: str) -> str | None:
    """Why nobody recomputes this number."""
    pattern = re.sub(r"\[\d+\]", "[]", key)
    return next((why for keys, why in LEFT_OUT.items() if re.fullmatch(keys, pattern)), None)


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, one in value.items():
            yield from _leaves(one, f"{key}.{name}" if key else name)
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield from _leaves(one, f"{key}[{place}]")
    else:
        yield key, value


def table(lines: list[Line]) -> str:
    """Key, ours, independent, difference."""
    rows = [("key", "ours", "independent", "difference")]
    rows += [
        (line.key, f"{line.ours}", "nobody's" if line.missing else f"{line.independent}", f"{line.difference:.1e}")
        for line in lines
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run_dir", type=Path)
    parser.add_argument("--findings", type=Path, help="a findings document; default: what dbdyno report --json says")
    parser.add_argument("--all", action="store_true", help="print every number, not only those that differ")
    asked = parser.parse_args()
    if asked.findings:
        findings = json.loads(asked.findings.read_text(encoding="utf-8"))
    else:
        command = [sys.executable, "-m", "dbdyno", "report", str(asked.run_dir), "--json"]
        findings = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    lines = compare(findings, recompute(*read_run(asked.run_dir), findings))
    wrong = [line for line in lines if not line.agrees]
    if asked.all or wrong:
        print(table(lines if asked.all else wrong))
    greatest = max((line.difference for line in lines if line.agrees), default=0.0)
    print(f"{len(lines):,} values, {len(wrong)} differ; the others agree to {greatest:.1e}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
