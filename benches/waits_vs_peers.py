"""Who is right about where the time went: dbdyno, pg_stat_activity or pg_wait_sampling, with planted truths as judge.

4 sessions run the two loads of `peer_loads.py` on Debian's PostgreSQL 15, on a disk in memory, so that a flush is no
longer than planted, under each of the observers of `peer_observers.py`.
Each round has every load with every observer in random order. Printed: found minus true in points of the sessions'
time, pseudo-median with its exact 95 % interval over rounds (signed rank, as for verdicts); and the work that the
overloaded host did over what it did with nobody looking, in the same round.

    make bench, or: python benches/waits_vs_peers.py [--rounds 20] [--seconds 2] [--raw FILE]
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from peer_loads import LATE, LOADS, PLANTED, SCHEMA, SLEEP_MS, read_lengths, spec, statements_cpu_s
from peer_observers import CLIENTS, SLEEP, Seen, Shares, by_activity, by_profile, by_run, by_sampling, record_profile

from dbdyno import engine
from dbdyno.analysis.signed_rank import hodges_lehmann, interval
from dbdyno.probes.host_cpu import HostCpuMeter
from dbdyno.targets.embedded import EmbeddedServer

SERVER_BIN = Path("/usr/lib/postgresql/15/bin")
EXTENSION = Path("/usr/lib/postgresql/15/lib/pg_wait_sampling.so")
MEMORY = Path("/dev/shm")
LEAD_S = 0.6  # from the start of the driver to the first look, and by chance up to 0.2 more
MARGIN_S = 0.4  # for an observer to begin and to end
PROFILE_MARGIN_S = 1.5  # it attaches, tests itself and reads the server's counters twice
NEVER_MS = 2_000_000_000  # pg_wait_sampling's collector has no off switch
PERIODS_MS = {"sampling 10 ms": 10, "sampling 1 ms": 1}


@dataclasses.dataclass(frozen=True, slots=True)
class Trial:
    """One load under one observer; `work_per_s` is of the spins' rounds, `stolen` of the host's CPU time."""

    load: str
    observer: str
    round: int
    truth: Shares
    seen: Seen | None
    work_per_s: float
    stolen: float


def run_trial(server: EmbeddedServer, load: str, observer: str, number: int, seconds: float, own_cpu_s: float) -> Trial:
    """Runs the load in a thread and looks meanwhile, from some time within the first cycles on."""
    if EXTENSION.exists():
        set_sampling_period(server, PERIODS_MS.get(observer, NEVER_MS))
    server.execute("TRUNCATE spins")
    lead_s = LEAD_S + 0.2 * random.Random(f"{load} {observer} {number}").random()
    window_s = seconds + (PROFILE_MARGIN_S if observer == "profile" else MARGIN_S)
    asked = spec(server, load, number, window_s, "auto" if observer == "run" else "off")
    outcomes: list[dict[str, Any]] = []
    driver = threading.Thread(target=lambda: outcomes.append(engine.run_trial(asked, None)))
    host = HostCpuMeter()
    driver.start()
    time.sleep(lead_s)
    with server.connect() as session:
        session.execute("SELECT pg_stat_statements_reset()")
        (began,) = session.execute("SELECT clock_timestamp()").fetchone() or (None,)
    what_was_seen = look(server, observer, seconds)
    assert driver.is_alive(), f"{observer} took too long: the load was over"
    lengths_s, rounds = read_lengths(server, load, began, own_cpu_s)
    driver.join()
    cpu = host.read()
    (outcome,) = outcomes
    units_per_s = outcome["throughput_per_s"]
    truth = {part: length_s * units_per_s / CLIENTS for part, length_s in lengths_s.items()}
    seen = by_run(outcome) if observer == "run" else what_was_seen()
    return Trial(load, observer, number, truth, seen, rounds * units_per_s, cpu.steal if cpu else 0.0)


def set_sampling_period(server: EmbeddedServer, period_ms: int) -> None:
    """Of the profile; the history, a second set of looks, is never wanted."""
    server.execute(f"ALTER SYSTEM SET pg_wait_sampling.profile_period = {period_ms}")
    server.execute(f"ALTER SYSTEM SET pg_wait_sampling.history_period = {NEVER_MS}")
    server.execute("SELECT pg_reload_conf()")


def look(server: EmbeddedServer, observer: str, seconds: float) -> Callable[[], Seen | None]:
    """Lets an observer from outside look; what it saw may be computed when the load is over."""
    if observer == "profile":
        record = record_profile(server, seconds)
        return lambda: by_profile(record)
    if observer in ("none", "run"):
        time.sleep(seconds)
        return lambda: None
    seen = by_activity(server, seconds) if observer == "activity" else by_sampling(server, seconds)
    return lambda: seen


def in_points(errors: list[float]) -> str:
    """Pseudo-median and interval."""
    low, high = interval(errors) or (-math.inf, math.inf)
    return f"{100 * hodges_lehmann(errors):+.2f} ({100 * low:+.2f} to {100 * high:+.2f})"


def print_parts(trials: list[Trial], load: str, observers: list[str]) -> None:
    """Found minus true, part by part."""
    print(f"\n| {load}: part | true % | " + " | ".join(observers) + " |\n" + "|---" * (len(observers) + 2) + "|")
    for part in PLANTED[load]:
        true = [100 * trial.truth[part] for trial in trials if trial.load == load]
        cells = [f"{sum(true) / len(true):.1f}"]
        for observer in observers:
            errors = [
                trial.seen.shares[part] - trial.truth[part]
                for trial in trials
                if (trial.load, trial.observer) == (load, observer) and trial.seen and part in trial.seen.shares
            ]
            cells.append(in_points(errors) if errors else "not told")
        print(f"| {part} | " + " | ".join(cells) + " |")


def print_costs(trials: list[Trial], observers: list[str]) -> None:
    """What looking took from the overloaded host."""
    print("\n| observer | looks/s | its CPU % of one | server's CPU % of one | work done / nobody looking |")
    print("|---|---|---|---|---|")
    alone = {trial.round: trial for trial in trials if (trial.load, trial.observer) == ("overload", "none")}
    for observer in observers:
        mine = [trial for trial in trials if (trial.load, trial.observer) == ("overload", observer)]
        seen = [trial.seen for trial in mine if trial.seen]
        looks, own, inside = (
            sum(getattr(one, name) for one in seen) / len(seen)
            for name in ("looks_per_s", "observer_cpu", "server_cpu")
        )
        ratios = [math.log(trial.work_per_s / alone[trial.round].work_per_s) for trial in mine]
        low, high = interval(ratios) or (-math.inf, math.inf)
        ratio = f"{math.exp(hodges_lehmann(ratios)):.4f} ({math.exp(low):.4f} to {math.exp(high):.4f})"
        print(f"| {observer} | {looks:.0f} | {100 * own:.2f} | {100 * inside:.2f} | {ratio} |")


def main() -> None:
    """Runs the rounds and prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=2.0, help="that each observer looks")
    parser.add_argument("--raw", type=Path, help="a file for one JSON line a trial")
    options = parser.parse_args()
    if not SERVER_BIN.exists():
        print(f"left out: the comparison with peers, which needs {SERVER_BIN} (apt-get install postgresql-15)")
        return
    observers = ["run", "profile", "activity", *(PERIODS_MS if EXTENSION.exists() else ())]
    if not EXTENSION.exists():
        print("left out: pg_wait_sampling (apt-get install postgresql-15-pg-wait-sampling)")
    libraries = "pg_stat_statements" + (",pg_wait_sampling" if EXTENSION.exists() else "")
    settings: dict[str, str | int] = {"shared_preload_libraries": libraries, "autovacuum": "off"}
    order, trials = random.Random(1), []
    data_dir = MEMORY if MEMORY.is_dir() else None
    with EmbeddedServer(server_bin=SERVER_BIN, settings=settings, data_dir=data_dir) as server:
        server.execute(SCHEMA)
        if EXTENSION.exists():
            server.execute("CREATE EXTENSION pg_wait_sampling")
            set_sampling_period(server, NEVER_MS)
        own_cpu_s = {load: statements_cpu_s(server, load) for load in LOADS}
        for number in range(options.rounds):
            pairs = [(load, observer) for load in LOADS for observer in observers] + [("overload", "none")]
            for load, observer in order.sample(pairs, len(pairs)):
                trials.append(run_trial(server, load, observer, number, options.seconds, own_cpu_s[load]))
                if options.raw:
                    with options.raw.open("a") as raw:
                        raw.write(json.dumps(dataclasses.asdict(trials[-1])) + "\n")
    stolen = sum(trial.stolen for trial in trials) / len(trials)
    late = [trial.truth[LATE] / trial.truth[SLEEP] * SLEEP_MS for trial in trials if LATE in trial.truth]
    print(f"{options.rounds} rounds, {os.cpu_count()} CPUs, {stolen:.1%} of their time stolen by the host")
    print("CPU of a unit beside its spin: " + ", ".join(f"{load} {1e3 * s:.2f} ms" for load, s in own_cpu_s.items()))
    print(f"a pg_sleep of {SLEEP_MS} ms came back {sum(late) / len(late):.2f} ms late")
    for load in LOADS:
        print_parts(trials, load, observers)
    print_costs(trials, observers)


if __name__ == "__main__":
    main()
