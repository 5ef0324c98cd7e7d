"""Whether two spellings of a setting's value mean the same: for settings that a session may not try to set.

Units and words are those of PostgreSQL's documentation, "Parameter Names and Values".
"""

from __future__ import annotations

import re

_TRUE = ("on", "true", "yes", "1")
_FALSE = ("off", "false", "no", "0")
BOOLEAN_WORDS = (*_TRUE, *_FALSE)

# In bytes and in microseconds; no unit is in both.
_UNITS = {
    **{"B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40},
    **{"us": 1, "ms": 10**3, "s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6},
}
_QUANTITY = re.compile(r"\s*([-+]?[0-9]*\.?[0-9]+(?:e[-+]?[0-9]+)?)\s*([A-Za-z]*)\s*")
_BASE_UNIT = re.compile(r"([0-9]*)([A-Za-z]+)")


def same_value(wanted: str, seen: str, kind: str, base_unit: str | None) -> bool:
    """Whether `wanted` means what the server shows as `seen`; `kind` and `base_unit` are those of pg_settings."""
    if wanted.casefold() == seen.casefold():
        return True
    if kind == "bool":
        return wanted.casefold() in (_TRUE if seen == "on" else _FALSE)
    if kind in ("integer", "real"):
        amount = _amount(wanted, base_unit)
        return amount is not None and amount == _amount(seen, base_unit)
    return False


def _amount(text: str, base_unit: str | None) -> float | None:
    """In bytes or microseconds, or a plain number; a number without a unit is in the setting's own."""
    found = _QUANTITY.fullmatch(text)
    if found is None or (found[2] and found[2] not in _UNITS):
        return None
    return float(found[1]) * (_UNITS[found[2]] if found[2] else _base(base_unit))


def _base(unit: str | None) -> int:
    """Of `8kB`, 8192; 1 for a setting that has no unit."""
    found = _BASE_UNIT.fullmatch(unit or "")
    return int(found[1] or 1) * _UNITS.get(found[2], 1) if found else 1
