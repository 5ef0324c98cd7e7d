"""`dbdyno profile`: its flags. What it does is `profiling`, which is imported once they are known to be right."""

from __future__ import annotations

from pathlib import Path

import typer

from dbdyno.errors import DynoError

ROUTES = ("auto", "mapped", "sysv", "contiguous", "mem", "sql")


def profile(
    target: str = typer.Argument(
        ..., metavar="TARGET", help="A postgres:// URL, the PID of any server process, or a data directory."
    ),
    seconds: float = typer.Option(30.0, "--seconds", metavar="N", min=1.0, max=3600.0, help="How long to watch."),
    live: bool = typer.Option(False, "--live", help="Show it in the terminal meanwhile, with keys to look closer."),
    sampling_budget: float = typer.Option(
        0.01, "--sampling-budget", metavar="SHARE", min=0.0001, max=0.5, help="Of the host's CPU, for the snapshots."
    ),
    route: str = typer.Option("auto", "--route", metavar="ROUTE", help=f"How to look: {', '.join(ROUTES)}."),
    stacks: bool = typer.Option(False, "--stacks", help="Record the stacks of the server's processes as well."),
    syscalls: int | None = typer.Option(
        None, "--syscalls", metavar="PID", help="Then trace this process's system calls: a second or 2,000 of them."
    ),
    as_url: str | None = typer.Option(
        None, "--as-url", metavar="URL", help="Whom to connect as where TARGET is a process or a directory."
    ),
    out: Path | None = typer.Option(None, "--out", metavar="DIR", help="The profile's directory, new or empty."),
    as_json: bool = typer.Option(False, "--json", help="Print the findings as one JSON document."),
) -> None:
    """Watch a running server, read-only, and say where its time went."""
    if route not in ROUTES:
        raise DynoError("bad_route", f"--route {route}: not a route; use one of {', '.join(ROUTES)}")
    from dbdyno.attach.measure import Wish
    from dbdyno.commands import profiling

    wish = Wish(seconds, sampling_budget, route, stacks)
    profiling.profile(target, as_url, wish, syscalls=syscalls, out=out, live=live, as_json=as_json)
