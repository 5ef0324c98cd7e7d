"""What limits the conclusions: each warning says what was seen, why it matters, and ends with what to do."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from dbdyno.analysis import limits
from dbdyno.analysis.blocks import usable
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import WITHHOLDING, Arm, Check, Comparison, Instrument, Stopping, Warning
from dbdyno.analysis.holm import minimum_blocks
from dbdyno.analysis.judging import pairs

# Seen on an arm or its baseline, or on the machine, these change what a verdict is worth, so it must carry them:
# the instrument was the limit, or commits did not meet a disk.
LIMITS_A_VERDICT = WITHHOLDING | {"client_bound", "driver_cpu", "late", "little", "plan_changed", "warm_up"}
# Of the whole run: storage that is none, a machine that is not what it was, arms that disturb those after them.
RUN_LIMITS = frozenset(
    {
        *("tmpfs", "overlay", "network_file_system", "no_barrier", "fast_flush", "fsync_off"),
        *("machine_changed", "carry_over"),
    }
)


def arm_warnings(arm: Arm, machine: Document, server: Document) -> list[Warning]:
    """What the figures of one arm, measured on that server, give cause to say."""
    found = [*_instrument(arm, machine, server), *_profile(arm), *_load(arm), *_failed_checks(arm), *_evidence(arm)]
    return [dataclasses.replace(warning, arm=arm.arm) for warning in found]


def run_warnings(run: Document, trials: Sequence[Document], stopped: Stopping, complete: int) -> list[Warning]:
    """What the run as a whole gives cause to say."""
    return [
        *_left_out(run),
        *_failed_trials(trials),
        *_incomplete(run, stopped, complete),
        *_few_blocks(run, len(pairs(run))),
    ]


def machine_warnings(machine: Document) -> list[Warning]:
    """What the machine's record says of itself: storage that does not behave like storage, above all."""
    return [Warning(warning["code"], warning["message"]) for warning in machine["warnings"]]


def instrument_warnings(instrument: Instrument | None) -> list[Warning]:
    """A self-test that failed: what it missed, profiles may miss."""
    if instrument is None or instrument.verdict != "fails":
        return []
    seen = f"the last self-test of this machine found {instrument.found} of {instrument.planted} planted times"
    return [_warning("self_test", f"{seen}; do not believe profiles measured here", "until dbdyno selftest holds")]


def undecided_warnings(run: Document, comparisons: Sequence[Comparison]) -> list[Warning]:
    """One warning for all undecided comparisons, with the blocks that would decide half of them, and all."""
    undecided = [one for one in comparisons if one.verdict == "undecided" and not one.withheld]
    if not undecided:
        return []
    seen = f"{len(undecided)} of {len(comparisons)} comparisons undecided"
    needed = [comparison.blocks_needed for comparison in undecided]
    known = [blocks for blocks in needed if blocks is not None]
    if not known:
        advice = "no reasonable number of blocks would decide: use a quieter machine or a wider `margin`"
    else:
        half = sorted(known)[(len(known) - 1) // 2]
        some = " those that can be decided" if len(known) < len(needed) else ""
        all_of_them = f"{some}" if half == max(known) else f" half of them, {max(known)} all{some}"
        advice = f"about {half} blocks would decide{all_of_them}: dbdyno run {run['experiment']} --blocks {half}"
    return [Warning("undecided", f"{seen}; {advice}")]


def limiting_codes(
    comparison: tuple[str, str], by_arm: Mapping[str, Sequence[Warning]], of_run: Sequence[Warning]
) -> list[str]:
    """The codes that must stand beside the verdict on (arm, baseline)."""
    codes = [warning.code for warning in of_run if warning.code in RUN_LIMITS]
    codes += [warning.code for arm in comparison for warning in by_arm[arm] if warning.code in LIMITS_A_VERDICT]
    return list(dict.fromkeys(codes))


def _warning(code: str, *words: str) -> Warning:
    return Warning(code, " ".join(words))


def _little_tolerance(arm: Arm) -> float:
    thinks = arm.arrival.get("think_time_ns", 0) > 0
    return limits.little_tolerance(max(1.0, arm.units.successful / arm.trials), thinks=thinks)


def _percent(share: float, decimals: int = 0) -> str:
    return f"{share * 100:.{decimals}f} %"


def _instrument(arm: Arm, machine: Document, server: Document) -> Iterator[Warning]:
    driver = arm.driver
    if limits.client_bound(driver.busiest_thread_share):
        yield _warning(
            "client_bound",
            f"the busiest driver thread was {_percent(driver.busiest_thread_share)} busy: the driver limits this arm,",
            "not the server; give the driver more `threads` or run it on another machine",
        )
    share_of_machine = driver.cpu_share / machine["cpus"]
    if server["same_host"] and share_of_machine > limits.DRIVER_SHARE_OF_MACHINE:
        yield _warning(
            "driver_cpu",
            f"the driver took {_percent(share_of_machine)} of the CPUs that it shares with the server;",
            "run dbdyno on another machine with --target",
        )
    lateness = driver.lateness_ns_p99 / arm.response_time_ns.p99.estimate
    if limits.late(driver.lateness_ns_p99, arm.response_time_ns.p99.estimate):
        yield _warning(
            "late",
            f"the driver started units late: its p99 lateness is {_percent(lateness)} of the p99 response time,",
            "so part of that time is its own; use a lower rate, fewer `clients` or more `threads`",
        )
    if arm.little_discrepancy > _little_tolerance(arm):
        yield _warning(
            "little",
            f"Little's law is off by {_percent(arm.little_discrepancy, 1)}: throughput x response time is not",
            "the number of units in flight, so one of the three is wrong; repeat with a longer `window`",
        )


def _profile(arm: Arm) -> Iterator[Warning]:
    unaccounted = arm.profile_ns.unaccounted / arm.profile_total_ns
    if abs(unaccounted) > limits.UNACCOUNTED_SHARE:
        yield _warning(
            "unaccounted",
            f"{_percent(unaccounted)} of the response time is not accounted for: read the other parts as rough,",
            "and repeat with a longer `window` on a quieter machine",
        )
    if arm.profile_ns.cpu is None:
        yield _warning(
            "no_server_clocks",
            "the server's CPU and run-queue clocks could not be read, so both are missing from the profile;",
            "run dbdyno on the server's host, as root or as the server's user",
        )
    if arm.profile_route == "sql":
        yield _warning(
            "waits_over_sql",
            "waits were sampled over SQL, which misses short ones and is a load itself"
            + (f" ({arm.profile_note});" if arm.profile_note else ";"),
            "read them as rough, or run dbdyno on the server's host, as root or as the server's user",
        )


def _load(arm: Arm) -> Iterator[Warning]:
    images = arm.full_page_images_per_unit
    # Fixed work is done as a whole from the same reset state: the images that it writes belong to it.
    timed = arm.fixed_units is None
    if timed and images is not None and limits.image_storm(images, arm.wal_bytes_per_unit):
        yield _warning(
            "full_page_images",
            f"{images:.2f} full-page images a commit: the windows lie in the storm after a checkpoint, which inflates",
            "the WAL; use a longer `warm_up` or a smaller table",
        )
    units = arm.units
    if units.failed or units.skipped:
        attempted = units.successful + units.failed + units.skipped
        yield _warning(
            "failed_units",
            f"of {attempted} units {units.failed} failed and {units.skipped} were skipped; the response times are",
            "those of the others; look for the cause in the server's log, or raise `max_tries`",
        )


def _failed_checks(arm: Arm) -> Iterator[Warning]:
    for check in arm.failed_checks:
        yield _warning(
            "deviation" if check.check == "deviation" else "check",
            f"the arm did not do what its name says ({_shown(check)}), so it gets no verdict;",
            "correct the level in the experiment file",
        )


def _shown(check: Check) -> str:
    if check.check == "deviation":
        return check.seen
    return f"expected {check.expected}, {check.seen} seen in {check.failed_trials} of {check.trials} trials"


def _evidence(arm: Arm) -> Iterator[Warning]:
    for plan in arm.plans:
        if plan.other_shapes:
            yield _warning(
                "plan_changed",
                f"{plan.script} line {plan.line} had another plan in some trials: {plan.shape} in most, and",
                f"{', '.join(plan.other_shapes)}; use `analyze` in `reset`, or a level for each plan",
            )
    if arm.host_cpu is not None and arm.host_cpu.steal > limits.STEAL_SHARE:
        yield _warning(
            "steal",
            f"other guests of this host took {_percent(arm.host_cpu.steal, 1)} of the CPU time (steal), and no part of",
            "a profile shows it; repeat when the host is quieter",
        )
    if arm.server_log:
        more = "" if len(arm.server_log) == 1 else f" (and {len(arm.server_log) - 1} more)"
        yield _warning(
            "server_log",
            f"the server wrote into its log during the trials: {arm.server_log[0]}{more};",
            "remove the cause, or know that it is part of what was measured",
        )


def _left_out(run: Document) -> Iterator[Warning]:
    for arm in run["left_out"]:
        yield Warning("left_out", f"not measured: {arm['reason']}", arm["arm"])


def _failed_trials(trials: Sequence[Document]) -> Iterator[Warning]:
    reasons = [trial["reason"] or "no unit succeeded" for trial in trials if not usable(trial)]
    if reasons:
        often, times = Counter(reasons).most_common(1)[0]
        yield _warning(
            "failed_trials",
            f"{len(reasons)} of {len(trials)} trials failed and their blocks were repeated;",
            f"most often ({times} x): {often}; look for the cause in the server's log",
        )


def _incomplete(run: Document, stopped: Stopping, complete: int) -> Iterator[Warning]:
    if complete < run["blocks"] and not stopped.decided_early:
        yield _warning(
            "incomplete",
            f"{complete} of {run['blocks']} blocks are complete, and only these count;",
            "finish the run: dbdyno run --resume RUN_DIR",
        )


def _few_blocks(run: Document, comparisons: int) -> Iterator[Warning]:
    fewest = minimum_blocks(max(1, comparisons))
    if run["blocks"] < fewest:
        plural = "" if comparisons == 1 else "s"
        yield _warning(
            "few_blocks",
            f"{run['blocks']} blocks cannot decide {comparisons} comparison{plural}, whatever they show;",
            f"use at least {fewest}: --blocks {fewest}",
        )
