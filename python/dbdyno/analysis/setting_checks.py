"""Whether the settings of an arm were in force: what was expected of them, and what the runner found deviating."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dbdyno.analysis.check import NOT_KNOWN, Seen, check
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Check

BOOLEANS = {"true": "on", "yes": "on", "false": "off", "no": "off"}


def setting_checks(expect: Document, trials: Sequence[Document]) -> Iterator[Check]:
    """One for each setting that is expected, and one for each other deviation."""
    wanted = expect.get("settings") or {}
    for name, value in wanted.items():
        seen = [_seen(trial, name, _word(value)) for trial in trials]
        yield check(f"setting {name}", f"{name} = {_word(value)}", seen)
    others = dict.fromkeys(
        line for trial in trials for line in _deviations(trial) if line.partition(":")[0] not in wanted
    )
    for line in others:
        seen = [line if line in _deviations(trial) else None for trial in trials]
        yield check("deviation", "every level as the experiment file has it", seen)


def _seen(trial: Document, name: str, wanted: str) -> Seen:
    """The server compares values (it knows that 1ms is 1), so the runner's word counts; two words differ plainly."""
    value = (trial.get("settings") or {}).get(name)
    line = next((line for line in _deviations(trial) if line.partition(":")[0] == name), None)
    if value is None:
        return NOT_KNOWN if line is None else line.partition(": ")[2]
    if ((trial.get("setting_origins") or {}).get(name) or {}).get("pending_restart"):
        return f"{name} = {value}, with a restart pending,"
    differs = value.isalpha() and wanted.isalpha() and _word(value) != wanted
    if line is None:
        return f"{name} = {value}" if differs else None
    waits = line.partition("; ")[2]
    return f"{name} = {value}" + (f" ({waits})" if waits else "")


def _deviations(trial: Document) -> Sequence[str]:
    return trial.get("deviations") or ()


def _word(value: object) -> str:
    text = str(value).lower()
    return BOOLEANS.get(text, text) if isinstance(value, bool) or text in BOOLEANS else str(value)
