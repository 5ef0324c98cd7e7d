"""`dbdyno selftest`: its flags. What it does is `self_testing`, which is imported once they are known."""

from __future__ import annotations

from pathlib import Path

import typer


def selftest(
    repeats: int = typer.Option(4, "--repeats", metavar="N", min=1, max=1000, help="How often each truth is planted."),
    pairs: int = typer.Option(
        24, "--pairs", metavar="N", min=6, max=10_000, help="Pairs of trials with and without the sampler."
    ),
    server_bin: Path | None = typer.Option(None, "--server-bin", metavar="DIR", help="PostgreSQL binaries to start."),
    data_dir: Path | None = typer.Option(
        None, "--data-dir", metavar="DIR", help="Where the embedded server keeps its data."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON document."),
) -> int:
    """Check on this machine that planted times are found, and measure what watching costs."""
    from dbdyno.commands import self_testing

    return self_testing.selftest(repeats, pairs, server_bin, data_dir, as_json=as_json)
