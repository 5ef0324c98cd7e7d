"""How the profile was measured, and what that cost: one line a figure."""

from __future__ import annotations

from collections.abc import Iterator

from dbdyno.analysis.server_profile.findings import ServerProfile
from dbdyno.report.html.quantity import number, time_unit, whole
from dbdyno.report.html.tables import Definitions
from dbdyno.report.numbers import percent, significant

ROUTES = {
    "mapped": "the server’s shared memory, mapped read-only",
    "sysv": "the server’s shared memory, attached read-only",
    "contiguous": "one read of the server’s process array at a time",
    "mem": "reads of the server’s memory through /proc",
    "sql": "pg_stat_activity, polled over a connection",
    "off": "not at all",
}
ENDS = {"time": "at its time", "stopped": "stopped early", "server_gone": "the server went away"}


def definitions(profile: ServerProfile) -> Definitions:
    """What a reader needs in order to trust the figures or not."""
    return list(_lines(profile))


def _lines(profile: ServerProfile) -> Iterator[tuple[str, str]]:
    sampler = profile.sampler
    yield "server", f"PostgreSQL {profile.server_version}"
    if profile.cpus is not None:
        yield "CPUs of the host", whole(profile.cpus)
    yield "waits read by", f"{ROUTES.get(profile.route, profile.route)} ({profile.route})"
    if profile.note:
        yield "because", profile.note
    yield "time watched", f"{number(profile.seconds)} s, ended: {ENDS.get(profile.ended, profile.ended)}"
    yield "sessions seen", whole(profile.sessions)
    if profile.idle_cpu_ns is not None:
        yield "CPU of sessions not active", _time(profile.idle_cpu_ns.estimate)
    if profile.idle_run_queue_ns is not None:
        yield "in line with a command not begun", _time(profile.idle_run_queue_ns.estimate)
    yield "sweeps over all sessions", whole(profile.sweeps)
    if profile.period_ns:
        yield "mean time between two", _time(profile.period_ns)
        yield "sweeps a second", number(1e9 / profile.period_ns)
    if sampler.cpu_ns_per_sweep is not None:
        yield "CPU of one sweep", _time(sampler.cpu_ns_per_sweep)
    yield "CPU of the sampler", _time(sampler.cpu_ns)
    if sampler.host_share is not None:
        budget = "" if sampler.budget is None else f" (budget {percent(sampler.budget)})"
        yield "of all CPUs of the host", f"{_small_percent(sampler.host_share)}{budget}"
    if sampler.control_cpu_ns is not None:
        yield "server’s CPU for our connection", _time(sampler.control_cpu_ns)
    yield "intervals", _intervals(profile)


def _intervals(profile: ServerProfile) -> str:
    made = profile.bootstrap
    if made.unit == "none":
        return "none: the profile is too short"
    return f"95 %, from {whole(made.resamples)} resamples of {whole(made.units)} {made.unit}, in blocks of {made.block}"


def _time(ns: float) -> str:
    return time_unit([ns]).named(ns)


def _small_percent(share: float) -> str:
    """A cost of 0.04 % is not 0.0 %."""
    return f"{significant(share * 100)} %"
