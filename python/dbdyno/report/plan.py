"""The plan of a run on a terminal: what it will do and what it may tell, then the arms, the statements, the order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from dbdyno.analysis.findings import Pilot
from dbdyno.report import numbers
from dbdyno.report.layout import paragraph
from dbdyno.report.outlook_words import outlook_sentence
from dbdyno.report.sections.arms import title
from dbdyno.report.sentences import METRIC_NAMES

Plan = Mapping[str, Any]

# The order of so many blocks shows that it is drawn anew for each; all of it stands in the JSON.
BLOCKS_SHOWN = 3


def render(plan: Plan, pilot: Pilot | None, next_step: str) -> list[Text]:
    """All lines; `next_step` is the command that runs what is planned."""
    lines = [*paragraph(Text(f"{plan['experiment']}: {plan['question']}", style="bold")), Text()]
    for sentence in (_trials(plan), _time(plan, pilot), _bytes(plan, pilot), _verdicts(plan)):
        lines += paragraph(Text(sentence))
    if pilot is not None and pilot.outlook is not None:
        words = outlook_sentence(pilot.outlook)
        lines += paragraph(Text(words[0].upper() + words[1:] + ".", style="bold"))
    for section in (_arms(plan), _statements(plan), _settings(plan), _order(plan)):
        lines += [Text(), *section] if section else []
    return [*lines, Text(), Text(f"Next:  {next_step}", no_wrap=True, overflow="fold")]


def _trials(plan: Plan) -> str:
    arms = numbers.count(len(plan["arms"]), "arm")
    said = f"{plan['trials']:,} trials: {arms} in {'at most ' if _may_stop(plan) else ''}{plan['blocks']} blocks"
    if plan["window_ns"] is None:
        said += ", each of fixed work."
    else:
        warm_up, window = numbers.exact_duration(plan["warm_up_ns"]), numbers.exact_duration(plan["window_ns"])
        said += f", each {warm_up} of warm-up and {window} of window."
    if plan["levels_found_later"]:
        said += f" The levels of {', '.join(plan['levels_found_later'])} are found in the schema: more arms will come."
    return said


def _may_stop(plan: Plan) -> bool:
    return plan["until_decided"] or len(plan["looks"]) > 1


def _time(plan: Plan, pilot: Pilot | None) -> str:
    if pilot is not None:
        each = numbers.duration(pilot.seconds_per_trial * 1e9)
        return f"Time: {_minutes(pilot.seconds)}, {each} a trial with its resets as the pilot took them."
    if plan["seconds_at_least"] is None:
        return "Time: not known before; --pilot measures it."
    least = _minutes(plan["seconds_at_least"])
    return f"Time: at least {least}; log-ins and resets come on top, and --pilot measures them."


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def _bytes(plan: Plan, pilot: Pilot | None) -> str:
    schemas = " and ".join(plan["schemas"])
    size = plan["schema_bytes"] if pilot is None or pilot.schema_bytes is None else pilot.schema_bytes
    known = "a size that nobody knows yet" if size is None else f"about {numbers.size(size)}" if size else "no tables"
    said = f"Space: {schemas} at scale {plan['scale']}, {known}"
    if pilot is None or pilot.wal_bytes is None:
        return f"{said}; WAL comes on top, and --pilot measures it."
    return f"{said}; all trials write about {numbers.size(pilot.wal_bytes)} of WAL."


def _verdicts(plan: Plan) -> str:
    margin = numbers.percent(plan["margin"])
    said = f"Verdicts: on {METRIC_NAMES[plan['metric']]}; less than {margin} does not matter. "
    if plan["until_decided"]:
        return f"{said}Looked at after every block, until every comparison is decided (e-process)."
    if len(plan["looks"]) == 1:
        return f"{said}Looked at once, after {plan['blocks']} blocks."
    looks = ", ".join(map(str, plan["looks"][:-1]))
    return f"{said}Looked at after {looks} and {plan['looks'][-1]} blocks; it stops where all is decided."


def _arms(plan: Plan) -> list[Text]:
    lines = title("Arms")
    for arm in plan["arms"]:
        lines += paragraph(Text.assemble((arm["arm"], "bold"), f": {'; '.join(_does(arm))}."), first="- ")
    return lines


def _does(arm: Plan) -> Iterator[str]:
    if arm["null"]:
        yield f"a second copy of {arm['baseline']}, to count false alarms"
        return
    yield f"against {arm['baseline']}" if arm["baseline"] else "baseline"
    yield numbers.count(arm["clients"], "client")
    yield ", ".join(_script(script) for script in arm["scripts"])
    yield from (f"{name} = {value}" for name, value in arm["sets"].items())
    described = {"sql": "changes the schema", "engine": "done by", "server_bin": "server of", "target": "on"}
    for key, words in described.items():
        if arm[key]:
            yield words if key == "sql" else f"{words} {arm[key]}"
    if arm["reset"]:
        yield f"before each trial {', '.join(arm['reset'])}"


def _script(script: Plan) -> str:
    return script["name"] if script["weight"] == 1 else f"{script['name']}@{script['weight']}"


def _statements(plan: Plan) -> list[Text]:
    """Every script as it will be run, and every change of the schema."""
    lines = title("Statements")
    texts = dict(plan["scripts"])
    texts |= {f"{arm['arm']}, schema": arm["sql"] for arm in plan["arms"] if arm["sql"]}
    for name, text in texts.items():
        lines.append(Text(name, style="dim"))
        lines += [Text(f"  {line}", overflow="fold") for line in text.strip().splitlines()]
    return lines


def _settings(plan: Plan) -> list[Text]:
    settings = plan["server_settings"]
    if not settings:
        return []
    return [*title("Settings of the embedded server"), *(Text(f"  {name} = {settings[name]}") for name in settings)]


def _order(plan: Plan) -> list[Text]:
    lines = title(f"Order, drawn with seed {plan['seed']}")
    for block in range(min(BLOCKS_SHOWN, plan["blocks"])):
        arms = [place["arm"] for place in plan["schedule"] if place["block"] == block]
        lines += paragraph(Text(f"{block + 1}: {', '.join(arms)}"))
    if plan["blocks"] > BLOCKS_SHOWN:
        lines.append(Text(f"... {plan['blocks'] - BLOCKS_SHOWN} blocks more; --json has them all", style="dim"))
    return lines
