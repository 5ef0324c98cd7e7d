"""What is asked of an index that an arm is without: is anything slower, is anything saved?

Every question is asked within blocks, by the exact signed-rank test, for each level of the other factors by itself (one
client and many, say). Holm's correction is made within such a level: once over what is asked about benefits (indexes x
kinds of transactions), once over what is asked about costs (indexes x figures); the run's metric has its own already,
that of the comparisons.
About benefits only those kinds of transactions are asked whose plans use the index, and none for an index that no trial
scanned: an index that is not used gives nothing, and every question more takes power from the others.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence

from dbdyno.analysis.blocks import Block
from dbdyno.analysis.documents import Document
from dbdyno.analysis.estimates import difference, pseudo_median, ratio
from dbdyno.analysis.findings import Comparison, IndexBenefit, IndexCost
from dbdyno.analysis.holm import SIGNIFICANCE, of_all
from dbdyno.analysis.index_figures import COSTS, SHARES, cost, response_times_ns, scans, scripts_using
from dbdyno.analysis.judging import Pair
from dbdyno.analysis.metrics import HIGHER_IS_BETTER, values
from dbdyno.analysis.signed_rank import MINIMUM_BLOCKS, p_value
from dbdyno.analysis.verdict import Effect, blocks_needed

ALL_INDEXES = "all-indexes"

# A smaller saving is not worth a change of the schema: 1 % of an amount, or 1 percentage point of a share.
SAVING = 0.01


@dataclasses.dataclass(frozen=True, slots=True)
class Subject:
    """An index, the arm without it and the arm that has all, under one level of the other factors."""

    index: Document
    without: str
    all_indexes: str
    under: str | None

    @property
    def pair(self) -> Pair:
        """The arms as a comparison names them."""
        return (self.without, self.all_indexes)

    @property
    def name(self) -> str:
        """The index."""
        return str(self.index["name"])


@dataclasses.dataclass(frozen=True, slots=True)
class Benefit:
    """An answer about one kind of transaction; `blocks_needed` to close an open one."""

    subject: Subject
    finding: IndexBenefit
    blocks_needed: int | None


@dataclasses.dataclass(frozen=True, slots=True)
class Cost:
    """An answer about one figure; `blocks_needed` to confirm a saving that is only seen so far."""

    subject: Subject
    finding: IndexCost
    blocks_needed: int | None


def subjects(run: Document) -> Iterator[Subject]:
    """Each arm without one index, with the arm that differs from it in that alone."""
    by_levels = {tuple(arm["levels"].items()): arm["arm"] for arm in run["arms"]}
    for arm in run["arms"]:
        index = arm.get("index")
        if index is None:
            continue
        whole = by_levels.get(tuple({**arm["levels"], index["factor"]: ALL_INDEXES}.items()))
        others = "/".join(level for factor, level in arm["levels"].items() if factor != index["factor"])
        if whole is not None:
            yield Subject(index, arm["arm"], whole, others or None)


def benefits(alike: Sequence[Subject], blocks: Sequence[Block], margin: float) -> list[Benefit]:
    """All answers about response times under one level of the other factors: one family for Holm."""
    asked = [(subject, script, logs) for subject in alike for script, logs in _slowdowns(subject, blocks).items()]
    p_values = [p_value(logs) for _, _, logs in asked]
    adjusted = of_all(p_values)
    return [
        _benefit(subject, script, logs, p, p_holm, margin, len(asked))
        for (subject, script, logs), p, p_holm in zip(asked, p_values, adjusted, strict=True)
    ]


def costs(alike: Sequence[Subject], blocks: Sequence[Block]) -> list[Cost]:
    """All answers about what writing costs under one level of the other factors: one family for Holm."""
    asked = [(subject, figure, pairs) for subject in alike for figure, pairs in _figures(subject, blocks).items()]
    changes = [_changes(figure, pairs) for _, figure, pairs in asked]
    adjusted = of_all([p_value(each) for each in changes])
    return [
        _cost(subject, figure, pairs, each, p_holm, len(asked))
        for (subject, figure, pairs), each, p_holm in zip(asked, changes, adjusted, strict=True)
    ]


def metric_cost(subject: Subject, compared: Comparison, run: Document, blocks: Sequence[Block]) -> Cost:
    """What an index costs in the run's own metric, as its comparison says."""
    arms = {arm["arm"]: arm for arm in run["arms"]}

    def typical(arm: str) -> float:
        return pseudo_median(values(compared.metric, arms[arm], [block[arm] for block in blocks])).estimate

    more_is_better = HIGHER_IS_BETTER[compared.metric]
    gain = compared.ratio.estimate if more_is_better else 1 / compared.ratio.estimate
    finding = IndexCost(
        under=subject.under,
        figure=compared.metric,
        with_index=typical(subject.all_indexes),
        without_index=typical(subject.without),
        relative=True,
        change=compared.ratio,
        p_value_holm=compared.p_value_holm,
        saved=compared.verdict in ("better", "small") and gain >= 1 + SAVING,
    )
    return Cost(subject, finding, compared.blocks_needed if gain >= 1 + SAVING else None)


def _slowdowns(subject: Subject, blocks: Sequence[Block]) -> dict[str, list[float]]:
    """Log of response time without / with the index, by kind of transaction, for each block that has the kind in both.

    A kind so rare that fewer blocks have it than a test needs is not asked about.
    """
    with_index = [block[subject.all_indexes] for block in blocks]
    if all(scans(subject.name, trial) == 0 for trial in with_index):
        return {}
    users = set().union(*(scripts_using(subject.name, trial) for trial in with_index))
    found: dict[str, list[float]] = {}
    for block in blocks:
        whole, without = (response_times_ns(block[arm]) for arm in (subject.all_indexes, subject.without))
        for script in whole.keys() & without.keys():
            found.setdefault(script, []).append(math.log(without[script] / whole[script]))
    enough = min(MINIMUM_BLOCKS, len(blocks))
    asked = users & found.keys() or found.keys()  # scanned, and in no plan that is known: it may be any of them
    return {script: found[script] for script in sorted(asked) if len(found[script]) >= enough}


def _benefit(
    subject: Subject, script: str, logs: list[float], p: float | None, p_holm: float | None, margin: float, asked: int
) -> Benefit:
    slowdown, slowdown_90 = ratio(logs), ratio(logs, confidence=0.90)
    word = "open"
    if p_holm is not None and p_holm < SIGNIFICANCE and slowdown.estimate >= 1 + margin:
        word = "slower"
    elif slowdown_90.high is not None and slowdown_90.high < 1 + margin:
        word = "not slower"
    effect = Effect.of(len(logs), slowdown, slowdown_90, p_holm, margin)
    needed = blocks_needed(effect, margin, asked) if word == "open" else None
    return Benefit(subject, IndexBenefit(subject.under, script, slowdown, p, p_holm, word), needed)


Pairs = list[tuple[float, float]]  # a figure with all indexes and without one, in each block


def _figures(subject: Subject, blocks: Sequence[Block]) -> dict[str, Pairs]:
    """The figures that both arms have in every block; a ratio needs them to be positive as well."""
    found: dict[str, Pairs] = {}
    for figure in COSTS:
        whole = [cost(figure, block[subject.all_indexes]) for block in blocks]
        without = [cost(figure, block[subject.without]) for block in blocks]
        pairs = [(a, b) for a, b in zip(whole, without, strict=True) if a is not None and b is not None]
        if len(pairs) == len(blocks) and (figure in SHARES or min(map(min, pairs)) > 0):
            found[figure] = pairs
    return found


def _changes(figure: str, pairs: Pairs) -> list[float]:
    """Differences of shares, logs of the ratios of anything else."""
    if figure in SHARES:
        return [without - whole for whole, without in pairs]
    return [math.log(without / whole) for whole, without in pairs]


def _cost(subject: Subject, figure: str, pairs: Pairs, changes: list[float], p_holm: float | None, asked: int) -> Cost:
    relative = figure not in SHARES
    change = ratio(changes) if relative else difference(changes)
    gain = math.log(change.estimate) if relative else change.estimate
    gain = gain if COSTS[figure] else -gain
    matters = gain >= (math.log1p(SAVING) if relative else SAVING)
    saved = matters and p_holm is not None and p_holm < SIGNIFICANCE
    finding = IndexCost(
        under=subject.under,
        figure=figure,
        with_index=pseudo_median([whole for whole, _ in pairs]).estimate,
        without_index=pseudo_median([without for _, without in pairs]).estimate,
        relative=relative,
        change=change,
        p_value_holm=p_holm,
        saved=saved,
    )
    if not matters or saved or not relative:
        return Cost(subject, finding, None)
    effect = Effect.of(len(changes), change, ratio(changes, confidence=0.90), p_holm, SAVING)
    return Cost(subject, finding, blocks_needed(effect, SAVING, asked))
