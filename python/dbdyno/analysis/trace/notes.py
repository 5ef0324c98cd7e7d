"""What the reader noticed, in words: by the codes of the outcome."""

from __future__ import annotations

from collections.abc import Iterator

from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Warning

MESSAGES = {
    "damaged_line": "{count} lines look like records and cannot be read as such (first: line {line}); left out",
    "unfinished_line": "the file ends within line {line}, which is left out",
    "long_line": "{count} lines are longer than what is kept of a line (first: line {line})",
    "text_without_end": "{count} statements lack END OF STMT (first: line {line})",
    "text_length_differs": "{count} statements are not as long as the trace says (first: line {line})",
    "questionable_duration": "{count} durations are longer than the trace, or negative (first: line {line}); left out",
    "clock_went_back": "the clock went back {count} times (first: line {line}); the order of the file counts",
    "no_times": "lines have no tim, so the duration is what calls and waits add up to",
    "recursion_longer_than_call": "{count} recursive calls took longer than the calls around them (first: line {line})",
    "waits_told_by_name": "waits have no tim: which lie between calls is told by their names",
    "unit_assumed": "no release is named before the first record: times are taken as microseconds",
    "estimated_wait_times": "waits have no tim: when they were is told from the calls around them",
    "size_limited": "the trace reached its size limit at line {line}: what came then is not in it",
    "continues_elsewhere": "the trace goes on in another file (line {line})",
    "continued_from_elsewhere": "the trace began in another file (line {line})",
    "sessions_overlap": (
        "several sessions were traced at once: the file's duration goes by the clock, and its lines add up the times "
        "of all of them; each has a profile of its own"
    ),
    "sessions_merged": "there are more sessions than are kept apart (first beyond: line {line})",
    "statements_merged": "there are more statements than are kept apart: others are one line (first: line {line})",
    "texts_cut": "{count} texts are kept in part only (first: line {line})",
    "events_merged": "there are more events than are kept apart (first beyond: line {line})",
    "targets_merged": "there are more files, objects and sizes than are kept apart (first beyond: line {line})",
    "call_tree_merged": "there are more pairs of callers than are kept apart (first beyond: line {line})",
    "cursors_forgotten": "{count} cursors were forgotten before they were closed (first: line {line})",
    "histograms_missing": "{count} histograms were left out (first: line {line})",
    "plans_missing": "{count} plans were left out (first: line {line})",
    "binds_missing": "{count} binds were left out (first: line {line})",
    "errors_merged": "there are more errors than are kept apart (first beyond: line {line})",
    "input_broken": "the file could not be read to its end",
    "not_a_trace": "nothing in it is a line of a trace",
}


def warnings(file: Document) -> Iterator[Warning]:
    """Of one file of the outcome."""
    for note in file["notes"]:
        words = MESSAGES[note["code"]].format(count=f"{note['count']:,}", line=f"{note['line']:,}")
        yield Warning(note["code"], words)
    unknown = file["unknown_lines"]
    if unknown["count"]:
        shapes = ", ".join(f"{one['shape'].strip()!r} (line {one['line']:,})" for one in unknown["shapes"][:3])
        yield Warning("unknown_lines", f"{unknown['count']:,} lines are of no known kind, as {shapes}; left out")
