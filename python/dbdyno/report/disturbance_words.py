"""What disturbed the trials, in words that the terminal and the page share."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from dbdyno.analysis.findings import Findings, Noise
from dbdyno.report import numbers

STEADINESS_WORDS = {
    "step": "the throughput stepped within the window",
    "warm_up": "the throughput stepped in the first fifth of the window",
    "checkpoint": "a checkpoint",
    "autovacuum": "an automatic vacuum",
}
# More numbers than these nobody reads; the findings document has all.
MOST_NAMED = 8


@dataclasses.dataclass(frozen=True, slots=True)
class Disturbance:
    """One thing that happened to trials: what, from where on it counts, to which, and what became of them."""

    what: str
    limit: str
    largest: str
    trials: int
    hit: Sequence[int]
    effect: str

    @property
    def places(self) -> str:
        """The trials by their place in the run, as the charts and the progress line count them."""
        named = ", ".join(map(str, self.hit[:MOST_NAMED]))
        return f"{named} and {len(self.hit) - MOST_NAMED} more" if len(self.hit) > MOST_NAMED else named


def disturbances(findings: Findings) -> list[Disturbance]:
    """From outside, source by source, then from within; only what hit a trial or was told."""
    places = {trial.trial: trial.order + 1 for arm in findings.arms for trial in arm.by_trial}
    found = [_of_noise(noise, places) for noise in findings.noise if noise.trials_hit or noise.told]
    trials = sum(arm.trials for arm in findings.arms)
    for code, words in STEADINESS_WORDS.items():
        flagged = [trial for arm in findings.arms if arm.steadiness for trial in arm.steadiness.flagged.get(code, [])]
        if flagged:
            found.append(Disturbance(words, "", "", trials, sorted(places[trial] for trial in flagged), ""))
    return found


def _of_noise(noise: Noise, places: dict[int, int]) -> Disturbance:
    over = " over the arm's median" if noise.above_median else ""
    effect = "" if noise.hit_ratio is None else f"{numbers.ratio(noise.hit_ratio)} the others"
    if noise.told:
        effect = f"{effect}, the more the worse".removeprefix(", ")
    return Disturbance(
        what=noise.words,
        limit=f"{numbers.percent(noise.limit)}{over}",
        largest=numbers.percent(noise.share_max),
        trials=noise.trials,
        hit=sorted(places[trial] for trial in noise.trials_hit if trial in places),
        effect=effect,
    )


def carry_over_words(findings: Findings) -> str | None:
    """What the arm before does; None where that was not asked."""
    found = findings.carry_over
    if found is None:
        return None
    p = numbers.p_value(found.p_value)
    if not found.told:
        return f"the arm before makes no difference that could be told (p {p})"
    most = found.after[0]
    return f"trials right after {most.arm} have {numbers.ratio(most.ratio)} the figure of those after others (p {p})"


def looked_at(findings: Findings) -> str:
    """Which sources of noise this host shows."""
    return ", ".join(noise.words for noise in findings.noise)
