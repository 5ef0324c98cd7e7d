"""The kinds of transactions of a mix."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from rich.text import Text

from dbdyno.analysis.findings import Arm, ScriptTimes
from dbdyno.report import numbers
from dbdyno.report.layout import Column, table
from dbdyno.report.naming import ArmNames, script_name
from dbdyno.report.sections.arms import arm_rows, title


def kinds(arms: Sequence[Arm], names: ArmNames) -> list[Text]:
    """Three percentiles of each kind, for the arms that have more than one."""
    mixed = [arm for arm in arms if len(arm.by_script) > 1]
    if not mixed:
        return []
    unit = numbers.time_unit(median(kind.response_time_ns.p95.estimate for arm in mixed for kind in arm.by_script))
    scripts = dict.fromkeys(kind.script for arm in mixed for kind in arm.by_script)
    columns = [column for script in scripts for column in _columns(script, mixed, unit)]
    words = f"By kind of transaction: response time in {unit.name}"
    return [*title(words), *table(arm_rows(mixed, names), columns)]


def _columns(script: str, arms: Sequence[Arm], unit: numbers.Unit) -> list[Column]:
    found = [next((kind for kind in arm.by_script if kind.script == script), None) for arm in arms]

    def column(percentile: str, style: str = "") -> Column:
        cells = tuple(numbers.in_unit(_estimate(kind, percentile), unit) for kind in found)
        return Column((percentile,), cells, style, span=script_name(script))

    return [column("p50"), column("p95", "bold"), column("p99")]


def _estimate(kind: ScriptTimes | None, percentile: str) -> float | None:
    if kind is None:
        return None
    times = kind.response_time_ns
    return {"p50": times.p50, "p95": times.p95, "p99": times.p99}[percentile].estimate
