"""Which indexes are worth their cost: each is taken away in an arm of its own and weighed against all indexes.

    keep          some kind of transaction is slower without it, by at least the margin, or the run's metric is worse
    drop          no kind of transaction that uses it is slower by the margin, and something is saved: the run's metric
                  is better, WAL or page writes are less for each row written, or more updates stay on their page (HOT)
    no evidence   neither is shown

An index is not dropped for a mere lack of power: that a user is not slower must be shown as well, by its 90 % interval
(the one-sided test of non-inferiority at 5 %; it must hold for every user, so it needs no correction).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dbdyno.analysis import index_questions as ask
from dbdyno.analysis.blocks import Block
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Comparison, IndexVerdict
from dbdyno.analysis.index_figures import scans, units
from dbdyno.analysis.judging import Pair


def index_verdicts(run: Document, blocks: Mapping[int, Block], comparisons: Sequence[Comparison]) -> list[IndexVerdict]:
    """A verdict for each index that some arm is without, in file order; none before a block is complete.

    An arm that did not do what its name says is left out.
    """
    compared = {(one.arm, one.baseline): one for one in comparisons}
    unfit = {pair for pair, one in compared.items() if one.withheld}
    fit = [subject for subject in ask.subjects(run) if subject.pair not in unfit] if blocks else []
    counted = list(blocks.values())
    benefits: list[ask.Benefit] = []
    costs = [ask.metric_cost(one, compared[one.pair], run, counted) for one in fit if one.pair in compared]
    for under in dict.fromkeys(subject.under for subject in fit):
        alike = [subject for subject in fit if subject.under == under]
        benefits += ask.benefits(alike, counted, run["margin"])
        costs += ask.costs(alike, counted)
    return [
        _verdict(
            [subject for subject in fit if subject.name == name],
            [benefit for benefit in benefits if benefit.subject.name == name],
            [cost for cost in costs if cost.subject.name == name],
            compared,
            counted,
        )
        for name in dict.fromkeys(subject.name for subject in fit)
    ]


def _verdict(
    subjects: Sequence[ask.Subject],
    benefits: Sequence[ask.Benefit],
    costs: Sequence[ask.Cost],
    compared: Mapping[Pair, Comparison],
    blocks: Sequence[Block],
) -> IndexVerdict:
    index = subjects[0].index
    word = _word(subjects, benefits, costs, compared)
    return IndexVerdict(
        index=index["name"],
        table=index["table"],
        definition=index["definition"],
        bytes=index["bytes"],
        verdict=word,
        scans_per_unit=_scans_per_unit(subjects, blocks),
        benefits=sorted(
            (one.finding for one in benefits), key=lambda finding: (not finding.slower, -finding.ratio.estimate)
        ),
        costs=[one.finding for one in costs],
        blocks_needed=_blocks_needed(benefits, costs) if word == "no evidence" else None,
        sql=index["sql"],
        undo=index["undo"],
    )


def _word(
    subjects: Sequence[ask.Subject],
    benefits: Sequence[ask.Benefit],
    costs: Sequence[ask.Cost],
    compared: Mapping[Pair, Comparison],
) -> str:
    worse = any(compared[one.pair].verdict == "worse" for one in subjects if one.pair in compared)
    if worse or any(one.finding.slower for one in benefits):
        return "keep"
    harmless = all(one.finding.verdict == "not slower" for one in benefits)
    return "drop" if harmless and any(one.finding.saved for one in costs) else "no evidence"


def _blocks_needed(benefits: Sequence[ask.Benefit], costs: Sequence[ask.Cost]) -> int | None:
    """What would close every open question about users; where there is none, what would confirm the nearest saving."""
    still_open = [one for one in benefits if one.finding.verdict == "open"]
    if still_open:
        known = [one.blocks_needed for one in still_open if one.blocks_needed is not None]
        return max(known) if len(known) == len(still_open) else None
    return min((one.blocks_needed for one in costs if one.blocks_needed is not None), default=None)


def _scans_per_unit(subjects: Sequence[ask.Subject], blocks: Sequence[Block]) -> float | None:
    trials = [block[subject.all_indexes] for subject in subjects for block in blocks]
    found = [(scans(subjects[0].name, trial), units(trial)) for trial in trials]
    known = [count for count, _ in found if count is not None]
    return sum(known) / sum(done for _, done in found) if len(known) == len(found) else None
