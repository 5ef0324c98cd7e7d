"""Values that a server's build does not have: a compression method, a way of I/O."""

from __future__ import annotations

from collections.abc import Mapping

from dbdyno.runner.setting_value import BOOLEAN_WORDS
from dbdyno.targets.target import Target


def value_not_offered(target: Target, values: Mapping[str, str]) -> str | None:
    """The first value that this server lacks, as a reason to leave an arm out; None if there is none.

    Only settings with a list of words have such values. Words for on and off are aliases that the lists leave out.
    """
    if not values:
        return None
    with target.connect() as connection:
        rows = connection.execute(
            "SELECT lower(name), enumvals FROM pg_settings WHERE vartype = 'enum' AND lower(name) = ANY (%s)",
            [[name.lower() for name in values]],
        )
        words: dict[str, list[str]] = dict(rows.fetchall())
    for name, value in values.items():
        offered = words.get(name.lower())
        if offered is not None and value.lower() not in (*offered, *BOOLEAN_WORDS):
            return f"needs {name} = {value}, and this server offers {', '.join(offered)}"
    return None
