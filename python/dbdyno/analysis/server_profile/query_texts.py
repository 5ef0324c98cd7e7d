"""The texts of queries, also of what has no query id: utility statements, and everything where ids are off."""

from __future__ import annotations

from collections import Counter

from dbdyno.analysis.documents import Document
from dbdyno.analysis.server_profile import words

NO_ID = ""
# Without ids a text stands for itself, constants and all: the greatest few tell what it is.
MOST_TEXTS = 3
TEXT_CHARACTERS = 60
NOT_ANALYSED = "commands that were not analysed yet"


def query_texts(record: Document) -> dict[str, str]:
    """The text of each query id: that of pg_stat_statements, without constants, else as a session sent it.

    That of `NO_ID` says which texts the control connection saw most often in active sessions without a query id. Where
    it never met one although there are ids, those were commands on their way to one: parse analysis gives it.
    """
    sessions, counters = record.get("sessions") or {}, record.get("counters") or {}
    sent = {
        str(query["query_id"]): str(query["text"])
        for query in sessions.get("queries") or []
        if query["query_id"] is not None
    }
    rows = (counters.get("pg_stat_statements") or {}).get("rows_after") or []
    counted = {str(row["queryid"]): str(row["query"]) for row in rows if row.get("query")}
    return sent | counted | _without_id(sessions)


def _without_id(sessions: Document) -> dict[str, str]:
    queries = sessions.get("queries") or []
    seen: Counter[str] = Counter()
    for _, _, state, _, query in sessions.get("seen") or []:
        if state == "active" and query is not None and queries[query]["query_id"] is None:
            seen[_shortened(queries[query]["text"])] += 1
    if not seen:
        return {NO_ID: NOT_ANALYSED} if any(query["query_id"] is not None for query in queries) else {}
    polls = seen.total()
    told = ", ".join(f"{text} {words.percent(count / polls)}" for text, count in seen.most_common(MOST_TEXTS))
    rest = "" if len(seen) <= MOST_TEXTS else f" and {len(seen) - MOST_TEXTS} more"
    return {NO_ID: f"{told}{rest} (of {polls} polls that met one)"}


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TEXT_CHARACTERS else f"{line[: TEXT_CHARACTERS - 1].rstrip()}…"
