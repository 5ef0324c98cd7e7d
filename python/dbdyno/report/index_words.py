"""Verdicts on indexes in sentences: the answer, the transaction that needs the index or what it costs, how to be rid of
it.
"""

from __future__ import annotations

from dbdyno.analysis.findings import Findings, IndexBenefit, IndexCost, IndexVerdict
from dbdyno.report import numbers
from dbdyno.report.naming import script_name
from dbdyno.report.sentences import METRIC_NAMES, Role, Sentence, Span

FIGURE_NAMES = {
    "wal_bytes_per_row_written": "the WAL per row written",
    "buffers_written_per_row_written": "the page writes per row written",
    "hot_share": "the share of updates that stay on their page (HOT)",
    "new_page_share": "the share of updates that move to another page",
    **METRIC_NAMES,
}
VERDICT_ROLES: dict[str, Role] = {"keep": "better", "drop": "worse", "no evidence": "open"}

# More kinds of transactions, or figures, than this make no sentence.
MOST_NAMED = 3


def index_sentences(findings: Findings) -> list[Sentence]:
    """One paragraph for each index: those to keep first, then those to drop."""
    order = list(VERDICT_ROLES)
    return [_sentence(verdict) for verdict in sorted(findings.indexes, key=lambda one: order.index(one.verdict))]


def _sentence(verdict: IndexVerdict) -> Sentence:
    on = " on " if verdict.verdict == "no evidence" else " "
    lead = [Span(verdict.verdict, VERDICT_ROLES[verdict.verdict]), Span(on), Span(verdict.index, "arm")]
    if verdict.verdict == "keep":
        return [*lead, Span(": "), *_kept(verdict)]
    if verdict.verdict == "drop":
        used = "no transaction used it" if verdict.scans_per_unit == 0 else "nothing is slower without it"
        return [*lead, Span(f" ({numbers.size(verdict.bytes)}): {used}, and without it "), *_saved(verdict),
                Span(f". {verdict.sql}")]  # fmt: skip
    return [*lead, Span(f": {_open(verdict)}")]


def _kept(verdict: IndexVerdict) -> Sentence:
    slower = [benefit for benefit in verdict.benefits if benefit.slower]
    if not slower:
        worse = next(cost for cost in verdict.costs if cost.figure in METRIC_NAMES)
        return [Span(f"without it {FIGURE_NAMES[worse.figure]} is "), *_change(worse), Span(".")]
    worst, *others = slower
    more = [f"{script_name(one.script)}{_under(one)} {numbers.ratio(one.ratio.estimate)}" for one in others]
    rest = f"; {', '.join(more[: MOST_NAMED - 1])}" if more else ""
    rest += f" and {len(more) - MOST_NAMED + 1} more" if len(more) >= MOST_NAMED else ""
    return [
        Span(f"{script_name(worst.script)} takes "),
        Span(numbers.ratio(worst.ratio.estimate), "estimate"),
        Span(" as long without it"),
        Span(f" (95 % interval {_ends(worst.ratio.low, worst.ratio.high)}{_comma_under(worst)})", "bound"),
        Span(f"{rest}."),
    ]


def _saved(verdict: IndexVerdict) -> Sentence:
    """What is saved, each figure once: under the first level of the other factors that shows it."""
    shown = {cost.figure: cost for cost in reversed(verdict.costs) if cost.saved}
    spans: Sentence = []
    for figure, cost in list(reversed(shown.items()))[:MOST_NAMED]:
        spans += [Span(", " if spans else ""), Span(f"{FIGURE_NAMES[figure]} is "), *_change(cost)]
    return spans


def _change(cost: IndexCost) -> Sentence:
    if not cost.relative:
        before, after = numbers.percent(cost.with_index), numbers.percent(cost.without_index)
        return [Span(after, "estimate"), Span(f" instead of {before}{_under(cost)}")]
    ends = f"{_ends(cost.change.low, cost.change.high)}{_comma_under(cost)}"
    return [Span(numbers.ratio(cost.change.estimate), "estimate"), Span(f" (95 % interval {ends})", "bound")]


def _open(verdict: IndexVerdict) -> str:
    """What is not known, and what would tell."""
    unsettled = [one for one in verdict.benefits if one.verdict == "open"]
    blocks = f"; about {verdict.blocks_needed} blocks would decide it" if verdict.blocks_needed is not None else ""
    if unsettled:
        one = unsettled[0]
        ends = f"{numbers.ratio(one.ratio.estimate)}, 95 % interval {_ends(one.ratio.low, one.ratio.high)}"
        return f"whether {script_name(one.script)} needs it is open ({ends}{_comma_under(one)}){blocks}."
    used = "no transaction used it" if verdict.scans_per_unit == 0 else "nothing is slower without it"
    return f"{used}, and nothing is shown to be saved{blocks}."


def _under(one: IndexBenefit | IndexCost) -> str:
    return "" if one.under is None else f" ({one.under})"


def _comma_under(one: IndexBenefit | IndexCost) -> str:
    return "" if one.under is None else f", {one.under}"


def _ends(low: float | None, high: float | None) -> str:
    return "unknown" if low is None or high is None else f"{numbers.ratio(low)} to {numbers.ratio(high)}"
