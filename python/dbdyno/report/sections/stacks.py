"""The functions that the time was in, with what they mean, and the stack that nearly all snapshots share."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from dbdyno.analysis.findings import Arm, CommonStack, Stacks
from dbdyno.report import numbers
from dbdyno.report.function_meanings import meaning
from dbdyno.report.layout import paragraph
from dbdyno.report.naming import ArmNames
from dbdyno.report.sections.arms import title

# The functions of one arm that are worth a line; all are in the HTML report.
SHOWN = 8
# A function that took less is not why anything is slow.
LEAST_SHARE = 0.01
# Of a common stack the functions nearest its end: those above are in every stack of its kind.
NEAREST = 3
INDENT = "  "


def stacks(arms: Sequence[Arm], names: ArmNames) -> list[Text]:
    """The hottest functions of each arm whose stacks were recorded."""
    lines: list[Text] = []
    for arm in arms:
        if arm.stacks is not None:
            group = names.group(arm.arm)
            lines += [Text(f"{group}: {names.short(arm.arm)}" if group else names.short(arm.arm))]
            lines += functions(arm.stacks)
    return [*title("Where in the server: functions by their own time (with what they call)"), *lines] if lines else []


def profile_stacks(found: Stacks | None) -> list[Text]:
    """The hottest functions of a server's sessions."""
    if found is None:
        return []
    return [*title("Where in the server: functions by their own time (with what they call)"), *functions(found)]


def functions(found: Stacks) -> list[Text]:
    """The lines of one recording."""
    lines: list[Text] = []
    for common in found.common:
        lines += paragraph(Text(common_sentence(common)), first=INDENT, rest=INDENT)
    shown = [each for each in found.hottest[:SHOWN] if each.self_share >= LEAST_SHARE]
    if not shown:
        lines.append(
            Text(f"{INDENT}No single function computed for {numbers.percent(LEAST_SHARE)} of the time: see the waits.")
        )
    for each in shown:
        share, inclusive = numbers.percent(each.self_share), numbers.percent(each.share)
        lead = f"{INDENT}{share:>6} ({inclusive})".ljust(19)
        said = f"{each.function}: {known}" if (known := meaning(each.function)) else each.function
        lines += paragraph(Text(said), first=lead, rest=" " * 21)
    lines += paragraph(Text(_recorded(found), style="dim"), first=INDENT, rest=INDENT)
    return lines


def common_sentence(common: CommonStack) -> str:
    """`The same stack in 97 % of 300 CPU snapshots (94.4 to 98.4 %): ... > ExecHashJoin, hash join: ...`."""
    where = " > ".join([*(["..."] if len(common.functions) > NEAREST else []), *common.functions[-NEAREST:]])
    last = meaning(common.functions[-1])
    kind = "CPU" if common.kind == "cpu" else "wait"
    low, high = common.share.low or 0.0, common.share.high or 1.0
    share = f"{numbers.percent(common.share.estimate)} of {numbers.count(common.of, f'{kind} snapshot')}"
    return f"The same stack in {share} ({100 * low:.1f} to {100 * high:.1f} %): {where}" + (
        f" ({last})." if last else "."
    )


def _recorded(found: Stacks) -> str:
    """How it was measured: no figure without it."""
    said = [
        f"{numbers.count(found.cpu_snapshots, 'CPU stack')} and {numbers.count(found.wait_snapshots, 'wait stack')}"
    ]
    if found.route is not None:
        said.append("by perf events" if found.route == "perf" else "by stopping")
    if found.pauses is not None:
        mean, longest = numbers.duration(found.pauses.mean_ns), numbers.duration(found.pauses.max_ns)
        said.append(f"{numbers.count(found.pauses.count, 'pause')} of {mean} in the mean, {longest} at most")
    if found.lost:
        said.append(f"{found.lost} lost")
    if found.cut:
        said.append(f"{numbers.percent(found.cut)} cut short")
    if found.note:
        said.append(found.note)
    return "; ".join(said) + "."
