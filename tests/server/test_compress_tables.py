"""What compress-tables claims of storage: every arm's DDL changes what is stored, and its undo brings that back."""

from __future__ import annotations

import pytest

from dbdyno import experiments
from dbdyno.design.asked import Asked
from dbdyno.design.experiment import load_experiment
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = [pytest.mark.server, pytest.mark.timed]

# What the other schema of the experiment brings, and no more of it than its storage needs.
DESCRIPTIONS = """
CREATE TABLE product_descriptions (product_id int, language text, summary text, description text);
INSERT INTO product_descriptions VALUES (1, 'en', 'short', repeat('long and longer ', 300))"""

STORED = """
SELECT pg_relation_size('order_documents'),
       (SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE relname = 'order_documents'),
       count(pg_column_compression(document)), count(pg_column_compression(note)), count(*),
       bool_and(document::text ~ 'nothing to remark'), sum(octet_length(note))
FROM order_documents"""


def stored(server: EmbeddedServer) -> tuple[int, ...]:
    """Bytes in line and out of line, compressed documents and notes, rows, and that they are what they were."""
    with server.connect() as connection:
        row = connection.execute(STORED).fetchone()
    assert row is not None
    return row


def test_each_arm_stores_as_it_says_and_goes_back(cache: object) -> None:
    """By the server's own account; `as-is` changes nothing at all. (lz4 is not in every build.)"""
    experiment = load_experiment(experiments.find("compress-tables"), Asked(quick=True))
    changing = ("as-is", "toast-main", "toast-external", "fill-80")
    with EmbeddedServer() as server:
        server.execute(DESCRIPTIONS)
        server.execute(f"SET dbdyno.scale = 1; {experiment.schemas[1].tables_sql}")
        loaded = stored(server)
        seen = {}
        for name in changing:
            arm = experiment.arm(name)
            server.execute(arm.sql)
            seen[name] = stored(server)
            server.execute(arm.undo)
            assert stored(server) == loaded, name

    in_line, out_of_line, documents, notes, rows, *content = loaded
    assert seen["as-is"] == loaded
    assert all(list(found[4:]) == [rows, *content] for found in seen.values())
    assert (documents, notes) == (rows, 0)  # a note alone leaves its row below 2 kB, so it is not compressed
    assert seen["toast-main"][2:4] == (rows, rows)
    assert seen["toast-main"][0] > 3 * in_line
    assert seen["toast-external"][2:4] == (0, 0)
    assert seen["toast-external"][1] > 2 * out_of_line
    assert 1.15 * in_line < seen["fill-80"][0] < 1.35 * in_line
