"""The self-test in the terminal: the verdict, the truths, the cost."""

from __future__ import annotations

from rich.text import Text

from dbdyno.analysis.findings import SamplingCost
from dbdyno.analysis.self_test.findings import TOLERANCE, SelfTest, TruthResult
from dbdyno.report import numbers
from dbdyno.report.layout import Column, Row, paragraph, table
from dbdyno.report.stopping_words import null_arm_sentence

_WORDS = {
    "holds": "The profile is right on this machine: every planted time was found within {tolerance}.",
    "machine too busy": (
        "This machine was too busy to tell: planted times were missed while the load stood in line for a CPU. "
        "Repeat it when the machine is quiet: dbdyno selftest."
    ),
    "fails": "The profile is wrong on this machine: planted times were missed by more than {tolerance}.",
}


def render(found: SelfTest, kept: str) -> list[Text]:
    """All lines; `kept` is the file that later reports take the cost from."""
    words = _WORDS[found.verdict].format(tolerance=numbers.percent(TOLERANCE))
    return [
        *paragraph(Text(words, style="bold"), rest=""),
        Text(),
        Text(f"Planted truths, PostgreSQL {found.server_version}"),
        *_truths(found.truths),
        Text(),
        *paragraph(Text(cost_sentence(found.cost)), rest=""),
        *paragraph(Text(null_arm_sentence(found.null_arm)), rest=""),
        Text(),
        Text(f"Kept for the reports of later runs: {kept}", style="dim", no_wrap=True, overflow="fold"),
    ]


def cost_sentence(cost: SamplingCost) -> str:
    """What watching costs here."""
    within = numbers.interval(cost.throughput.low, cost.throughput.high)
    return (
        f"Watching costs the load: {numbers.ratio(cost.throughput.estimate)} the throughput (95 % {within}, "
        f"{cost.pairs} pairs, {cost.clients} clients on {numbers.count(cost.cpus, 'CPU')}). The sampler "
        f"itself: {numbers.percent(cost.host_share)} of the host's CPU, "
        f"{numbers.duration(cost.cpu_ns_per_sweep)} for each of {cost.snapshots_per_s:,.0f} snapshots a second, "
        f"route {cost.route}."
    )


def _truths(truths: tuple[TruthResult, ...]) -> list[Text]:
    unit = numbers.MILLISECONDS

    def middle(values: list[float]) -> float:
        return sorted(values)[len(values) // 2]

    rows = [Row(truth.name) for truth in truths]
    ratios = [sorted(planted.ratio for planted in truth.repeats) for truth in truths]
    columns = [
        Column(
            ("true,", "ms"),
            tuple(numbers.in_unit(middle([p.true_ns for p in truth.repeats]), unit) for truth in truths),
        ),
        Column(
            ("found,", "ms"),
            tuple(numbers.in_unit(middle([p.found_ns for p in truth.repeats]), unit) for truth in truths),
        ),
        Column(("found/true,", "least"), tuple(f"{values[0]:.3f}" for values in ratios)),
        Column(("", "most"), tuple(f"{values[-1]:.3f}" for values in ratios)),
        Column(("within", "3 %"), tuple(f"{truth.inside} of {len(truth.repeats)}" for truth in truths), words=True),
        Column(("verdict",), tuple(truth.verdict for truth in truths), words=True),
    ]
    return [*table(rows, columns), Text(), *[line for truth in truths for line in paragraph(_says(truth))]]


def _says(truth: TruthResult) -> Text:
    return Text(f"{truth.name}: {truth.says}", style="dim")
