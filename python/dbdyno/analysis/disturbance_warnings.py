"""What to do about trials that were disturbed: each says what was seen, in which trials, and ends with what to do.

Nothing is dropped for it: a trial that noise hit is a trial, and comparing within blocks allows for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Arm, CarryOver, Noise, Warning
from dbdyno.analysis.limits import MANY_TRIALS_SHARE, STEP_SIZE
from dbdyno.analysis.metrics import HIGHER_IS_BETTER

_ADVICE = {
    "checkpoint": (
        "a checkpoint was under way or ended",
        "take `checkpoint` into `reset`, or raise `max_wal_size` and `checkpoint_timeout` in `settings` of [target]",
    ),
    "autovacuum": (
        "autovacuum was at work",
        "take `vacuum` into `reset`, or set `autovacuum = false` in `settings` of [target]",
    ),
}


def steadiness_warnings(arm: Arm) -> list[Warning]:
    """One for each kind of unsteadiness within the arm's trials."""
    return [Warning(code, message, arm.arm) for code, message in _unsteady(arm)]


def disturbance_warnings(run: Document, noise: Sequence[Noise], left_behind: CarryOver | None) -> list[Warning]:
    """What the trials of the run had to suffer, where it moved the run's metric or hit many of them."""
    found = []
    disturbing = [source for source in noise if _worth_a_warning(source)]
    if disturbing:
        said = "; ".join(_noise_words(source) for source in disturbing)
        found.append(Warning("noise", f"{said}; nothing was dropped: stop what else runs there, or add blocks"))
    if left_behind is not None and left_behind.told:
        most = left_behind.after[0]
        faster = (most.ratio > 1) == HIGHER_IS_BETTER[run["metric"]]
        found.append(
            Warning(
                "carry_over",
                f"trials right after {most.arm} were {_percent_off(most.ratio)} {'better' if faster else 'worse'} than "
                f"those after other arms (p {_p(left_behind.p_value)}): the arm leaves something behind, and the next "
                "one is charged for it; take what it leaves away in `reset`, or use a longer `warm_up`",
            )
        )
    return found


def _unsteady(arm: Arm) -> Iterator[tuple[str, str]]:
    steady = arm.steadiness
    if steady is None:
        return
    if not steady.warm_up_over and steady.start_ratio is not None and steady.p_value is not None:
        than = "slower" if steady.start_ratio < 1 else "faster"
        yield (
            "warm_up",
            f"the first fifth of the window was {_percent_off(steady.start_ratio)} {than} than its last half, over "
            f"{steady.trials} trials (p {_p(steady.p_value)}): the warm-up was not over; use a longer `warm_up`",
        )
    at_start, inside = steady.flagged.get("warm_up", []), steady.flagged.get("step", [])
    if at_start or inside:
        where = f" ({len(at_start)} of them in the first fifth of the window)" if at_start else ""
        yield (
            "step",
            f"the throughput stepped by more than {STEP_SIZE * 100:.0f} % within {len(at_start) + len(inside)} of "
            f"{steady.trials} trials{where}; nothing was dropped: see what else went on then, or use more and shorter "
            "trials",
        )
    for code, (seen, advice) in _ADVICE.items():
        if code in steady.flagged:
            yield code, f"{seen} in {len(steady.flagged[code])} of {steady.trials} trials; {advice}"


def _worth_a_warning(source: Noise) -> bool:
    """Steal that hit many trials has a warning of its own, by arm."""
    many = len(source.trials_hit) > MANY_TRIALS_SHARE * source.trials and source.source != "steal"
    return source.told or many


def _noise_words(source: Noise) -> str:
    """As in: CPU of other processes hit 14 of 96 trials (up to 23 %), the more the worse."""
    told = ", the more the worse" if source.told else ""
    hit = f"{len(source.trials_hit)} of {source.trials} trials"
    return f"{source.words} hit {hit} (up to {source.share_max * 100:.0f} %){told}"


def _percent_off(ratio: float) -> str:
    return f"{abs(ratio - 1) * 100:.1f} %"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"
