"""`dbdyno list`: the shipped experiments and the question that each answers."""

from __future__ import annotations

import json
import textwrap

import typer

from dbdyno import experiments


def list_experiments(
    as_json: bool = typer.Option(False, "--json", help="Print one JSON document."),
) -> None:
    """List the shipped experiments and the question that each answers."""
    from dbdyno.design.read import read_document

    questions = {name: read_document(experiments.find(name)).question for name in experiments.shipped()}
    if as_json:
        typer.echo(json.dumps([{"experiment": name, "question": text} for name, text in questions.items()], indent=1))
        return
    width = max(map(len, questions))
    for name, text in questions.items():
        typer.echo(textwrap.fill(f"{name:<{width}}  {text}", width=80, subsequent_indent=" " * (width + 2)))
    typer.echo("\nRead one: dbdyno show NAME. Run one, in a few minutes: dbdyno run NAME --quick")
