"""What an experiment file says of its scripts."""

from __future__ import annotations

from dbdyno.design.scripts import settings_in_script


def test_settings_that_a_script_makes_itself() -> None:
    """SET in all its forms, at the beginning of a line; nothing that only looks like it."""
    text = (
        "\\set aid 1\nBEGIN;\nSET LOCAL synchronous_commit = off;\nset session Work_Mem to '4MB';\n"
        "UPDATE t SET a = 1;\nSELECT 'SET x = 1';\n"
    )

    assert settings_in_script(text) == [("synchronous_commit", "off"), ("work_mem", "4mb")]
