"""The scripts of `tests/scripts`: what they expect to be defined, and the modes in which pgbench accepts them."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "tests" / "scripts").glob("*.sql"))
MODES = ("simple", "extended", "prepared")

DEFINITIONS = {
    "scale": "3",
    "client_id": "0",
    "rounds": "1000",
    "text_integer": "41",
    "text_double": "1.25",
    "text_boolean": "TRUE",
    "text_null": "null",
    "text_yes": "y",
    "text_signed": "+5",
    "text_spaced": " 7",
}

# pgbench puts `$1` into strings too, and the server refuses a prepared statement of several commands.
_SIMPLE_ONLY = {
    "capture_last_rows",
    "case_first_match",
    "defined_variables",
    "debug_values",
    "double_arithmetic",
    "least_greatest",
    "null_logic",
    "quoted_variables",
    "sql_joined",
}


def accepted_modes(script: Path) -> tuple[str, ...]:
    """The modes in which pgbench runs the script; a pipeline needs the extended protocol."""
    if script.stem.startswith("pipeline"):
        return MODES[1:]
    return MODES[:1] if script.stem in _SIMPLE_ONLY else MODES
