"""What differs between two runs, what that allows to conclude, and what to run to settle it, in words."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from dbdyno.analysis.runs_compared.findings import Difference, RunsComparison, RunSummary, Settling
from dbdyno.report import numbers
from dbdyno.report.runs_compared.figures import moment

# What differs between any two runs, and explains nothing.
ALWAYS = ("seed", "blocks planned", "blocks complete")
DEFAULTS = {"settings": "its default", "arms": "not set"}
MOST_NAMED = 4
UNPACKED = "run-a"
WITHIN = (
    "From within the blocks of each run: a machine that became faster or slower as a whole does not move these ratios, "
    "one that changed in its disk alone may."
)


def summary_words(run: RunSummary) -> str:
    """A run in a line: which, when, on what, how much."""
    trials = "fixed work" if run.window_ns == 0 else f"windows of {numbers.exact_duration(run.window_ns)}"
    return (
        f"{run.run_id}, {moment(run.started_at)}, PostgreSQL {' and '.join(run.server_versions)}, "
        f"{numbers.count(run.blocks_complete, 'block')} with {trials}, seed {run.seed}"
    )


def difference_words(difference: Difference) -> str:
    """One difference: what, then what the first run says and what the second."""
    if difference.unit == "sha256":
        missing = {difference.first: "the first", difference.second: "the second"}.get(None)
        return f"{difference.what} {'is not the same' if missing is None else f'is missing in {missing}'}"
    first, second = (_value(value, difference) for value in (difference.first, difference.second))
    ratio = "" if difference.ratio is None else f" ({numbers.ratio(difference.ratio)})"
    return f"{difference.what} {first}, then {second}{ratio}"


def grouped(differences: Iterable[Difference]) -> list[tuple[str, str]]:
    """A heading and the differences of each group, in the order of the findings."""
    groups: dict[str, list[str]] = {}
    for each in differences:
        groups.setdefault(each.group, []).append(difference_words(each))
    return [(group, "; ".join(words)) for group, words in groups.items()]


def conclusion(comparison: RunsComparison) -> str:
    """What the ratios may be due to, and that nothing here tells which."""
    return " ".join([*_alike(comparison), _beside_the_day(comparison.differences)])


def _alike(comparison: RunsComparison) -> list[str]:
    """Arms that moved while no effect did, moved together."""
    moved = any(arm.verdict in ("better", "worse", "small") for arm in comparison.arms)
    effects = [effect.verdict for effect in comparison.effects]
    if not moved or set(effects) != {"same"}:
        return []
    lead = "The effect within the runs is the same" if len(effects) == 1 else "Every effect within the runs is the same"
    return [f"{lead}, so what moved, moved all arms alike, as another machine or another day does."]


def _beside_the_day(differences: Sequence[Difference]) -> str:
    telling = [each for each in differences if not each.measured and each.what not in ALWAYS]
    if not telling:
        return (
            "The records differ in nothing but the day: a difference between A and B is the machine's, or something "
            "that no record holds."
        )
    named = [_named(each) for each in telling[:MOST_NAMED]]
    rest = len(telling) - len(named)
    more = f" and {numbers.count(rest, 'thing')} more" if rest else ""
    listed = ", ".join(named) if rest or len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
    which = "whether that" if len(telling) == 1 else "which of these, if any,"
    return f"Beside the day the runs differ in {listed}{more}: nothing here tells {which} made a difference."


def _named(difference: Difference) -> str:
    lead = {"server": "the server's ", "settings": "the setting ", "dbdyno": "dbdyno's ", "arms": "the arm "}
    return f"{lead.get(difference.group, 'the ')}{difference.what}"


def _value(value: str | float | None, difference: Difference) -> str:
    if value is None:
        return DEFAULTS.get(difference.group, "none")
    if isinstance(value, str):
        return value
    if difference.unit == "ns":
        return numbers.duration(value) if difference.measured else numbers.exact_duration(value)
    if difference.unit == "bytes":
        return numbers.size(value)
    if difference.what == "seed":
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


@dataclasses.dataclass(frozen=True, slots=True)
class Steps:
    """What to do to settle it: words, then lines to type or to write, group after group."""

    groups: list[tuple[str, list[str]]]


def settling_steps(comparison: RunsComparison, places: Mapping[str, str], archived: Mapping[str, bool]) -> Steps:
    """What to type and what to write.

    Args:
        comparison: its `settling` says which experiment it is.
        places: of each run's label the path of its directory or archive.
        archived: of each label whether that is an archive.
    """
    settling, run = comparison.settling, comparison.first
    place, unpack = places[run.label], []
    if archived[run.label]:
        unpack = [f"dbdyno unpack {place} --out {UNPACKED}"]
        place = UNPACKED
    if settling.toml is None:
        command = f"dbdyno run {place}/experiment/{run.experiment_file} --blocks {settling.blocks}"
        return Steps([(_why_repeat(comparison), [*unpack, command])])
    return Steps(
        [
            (_why(settling), [*unpack, f"cp -r {place}/experiment settle"]),
            (
                f"In settle/{run.experiment_file} write this baseline in place of its own, so that each arm is "
                f"compared with itself, and the factor at the end; {_also(settling)}:",
                settling.toml.splitlines(),
            ),
            ("Then:", [f"dbdyno run settle/{run.experiment_file} --blocks {settling.blocks}"]),
        ]
    )


def _why_repeat(comparison: RunsComparison) -> str:
    if any(each.unit == "sha256" for each in comparison.differences):
        return (
            "The experiment's files are not the same, and the records do not say in what. If that is the change in "
            "question, write both versions as two levels of one factor; if not, run one of them with the blocks of "
            "both:"
        )
    if comparison.settling.two_machines:
        return (
            "Nothing differs that an experiment could alternate: two machines meet in one run only as two servers, "
            "each the `target` of a level. One run on one of them, with all arms in random order, judges the arms:"
        )
    return (
        "Nothing differs that an experiment could alternate, so A and B are the same system twice. One run with the "
        "blocks of both judges its arms better than either:"
    )


def _why(settling: Settling) -> str:
    what = {
        "server_bin": "both builds of the server",
        "settings": "both sets of settings",
        "target": "both servers",
        "levels": "both definitions",
    }[settling.kind]
    where = ", on one machine" if settling.two_machines and settling.kind != "target" else ""
    return f"One experiment that alternates {what} in random order{where} tells them from the day:"


def _also(settling: Settling) -> str:
    """What else is to be changed."""
    if settling.kind in ("server_bin", "settings"):
        return "what the factor sets must not stand in [target] settings, too"
    if settling.kind == "levels":
        return "what it sets must not stand in the other levels, too"
    return "name both servers in it"
