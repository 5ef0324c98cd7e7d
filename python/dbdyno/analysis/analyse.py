"""A run's documents in, its findings out.

    findings = analyse(run, machine, trials)

The documents are the bodies of the journal's records (docs/run-directory.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dbdyno.analysis import warnings as warn
from dbdyno.analysis.answers import tradeoffs
from dbdyno.analysis.arms import Asked, arm_findings
from dbdyno.analysis.bands import SLOWEST, Share
from dbdyno.analysis.blocks import Block, counted_blocks, usable
from dbdyno.analysis.carry_over import carry_over
from dbdyno.analysis.comparisons import compare
from dbdyno.analysis.disturbance_warnings import disturbance_warnings, steadiness_warnings
from dbdyno.analysis.documents import Document
from dbdyno.analysis.exploratory import explore
from dbdyno.analysis.findings import FORMAT, Arm, Findings, Scheduled
from dbdyno.analysis.indexes import index_verdicts
from dbdyno.analysis.instrument import instrument_findings
from dbdyno.analysis.interactions import interactions
from dbdyno.analysis.judging import judge
from dbdyno.analysis.metrics import HIGHER_IS_BETTER
from dbdyno.analysis.noise import noise
from dbdyno.analysis.null_arm import null_arm
from dbdyno.analysis.stopping import stopping


def analyse(run: Document, machine: Document, trials: Sequence[Document], *, slow: Share = SLOWEST) -> Findings:
    """All that a run shows.

    Figures of arms come from the counted blocks; where no block is complete, from all trials that are ok, and
    then there is no comparison.

    Args:
        run: the body of the `run` record.
        machine: the body of the last `machine` record.
        trials: the bodies of the `trial` records, in any order.
        slow: the units that the tail explains.
    """
    trials = sorted(trials, key=lambda trial: trial["trial"])  # the order of the schedule is that of time
    blocks = counted_blocks(run, trials)
    counted = _counted_trials(run, blocks, trials)
    arms = _arms(run, machine, counted, Asked(run, slow))
    judged = judge(run, blocks) if blocks else []
    stopped = stopping(run, blocks, judged)

    left_behind, seen_noise = carry_over(run, blocks, trials), noise(run, blocks)
    of_machine = warn.machine_warnings(machine)
    of_disturbances = disturbance_warnings(run, seen_noise, left_behind)
    servers = {arm["arm"]: _server(machine, arm) for arm in run["arms"]}
    of_arms = {
        arm.arm: [*warn.arm_warnings(arm, machine, servers[arm.arm]), *steadiness_warnings(arm)]
        for arm in arms.values()
    }
    of_metric = warn.metric_warnings(run, trials)
    of_run = [*of_machine, *of_metric, *of_disturbances]
    limited_by = {each.pair: warn.limiting_codes(each.pair, of_arms, of_run) for each in judged}
    comparisons = compare(run, blocks, judged, arms, limited_by)
    fit = [(one.arm, one.baseline) for one in comparisons if not one.withheld]
    instrument = instrument_findings(machine)
    warnings = [
        *of_machine,
        *warn.instrument_warnings(instrument),
        *warn.run_warnings(run, trials, stopped, len(blocks)),
        *of_metric,
        *of_disturbances,
        *(warning for found in of_arms.values() for warning in found),
        *warn.undecided_warnings(run, comparisons),
    ]
    return Findings(
        format=FORMAT,
        experiment=run["experiment"],
        question=run["question"],
        run_id=run["run_id"],
        seed=run["seed"],
        blocks=run["blocks"],
        blocks_complete=len(blocks),
        window_ns=_window_ns(run, counted),
        metric=run["metric"],
        higher_is_better=HIGHER_IS_BETTER[run["metric"]],
        margin=run["margin"],
        started_at=run["started_at"],
        arms=list(arms.values()),
        comparisons=comparisons,
        interactions=interactions(run, blocks, fit),
        exploratory=explore(run, blocks, fit),
        null_arm=null_arm(run, machine, blocks),
        stopping=stopped,
        indexes=index_verdicts(run, blocks, comparisons),
        warnings=warnings,
        schedule=_schedule(run, blocks, trials),
        instrument=instrument,
        machine=dict(machine),
        versions={**run["dbdyno"], "server": machine["server"]["version"]},
        noise=seen_noise,
        carry_over=left_behind,
        tradeoffs=tradeoffs(run, arms) if blocks else [],
    )


Counted = Mapping[str, list[tuple[int, Document]]]  # arm name -> its (place in time, trial) pairs


def _counted_trials(run: Document, blocks: Mapping[int, Block], trials: Sequence[Document]) -> Counted:
    def counts(trial: Document) -> bool:
        return blocks[trial["block"]][trial["arm"]] is trial if trial["block"] in blocks else not blocks

    counted: dict[str, list[tuple[int, Document]]] = {arm["arm"]: [] for arm in run["arms"]}
    for order, trial in enumerate(trials):
        if usable(trial) and counts(trial):
            counted[trial["arm"]].append((order, trial))
    return counted


def _window_ns(run: Document, counted: Counted) -> int:
    """The length of the windows; with fixed work the window of a trial is only a limit."""
    timed = [arm["arm"] for arm in run["arms"] if arm.get("fixed_units") is None]
    return max((trial["outcome"]["window_ns"] for arm in timed for _, trial in counted[arm]), default=0)


def _arms(run: Document, machine: Document, counted: Counted, asked: Asked) -> dict[str, Arm]:
    found: dict[str, Arm] = {}
    for arm in run["arms"]:
        if counted[arm["arm"]]:
            orders, trials = zip(*counted[arm["arm"]], strict=True)
            baseline_trials = [trial for _, trial in counted.get(arm["baseline"], [])]
            found[arm["arm"]] = arm_findings(arm, trials, orders, baseline_trials, _server(machine, arm), asked)
    return found


def _server(machine: Document, arm: Document) -> Document:
    """The server of an arm: where targets or binaries are levels there are several."""
    servers, place = machine.get("servers"), arm.get("server")
    server: Document = servers[place] if servers and place is not None else machine["server"]
    return server


def _schedule(run: Document, blocks: Mapping[int, Block], trials: Sequence[Document]) -> list[Scheduled]:
    first = {trial["trial"]: trial for trial in trials if trial["attempt"] == 0}

    def status(place: Document) -> str:
        if place["trial"] not in first:
            return "not_run"
        if place["block"] in blocks and blocks[place["block"]][place["arm"]]["attempt"] > 0:
            return "repeated"
        return "ok" if usable(first[place["trial"]]) else "failed"

    return [
        Scheduled(place["trial"], place["block"], place["position"], place["arm"], status(place))
        for place in run["schedule"]
    ]
