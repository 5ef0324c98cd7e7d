"""The live view of a server, drawn: `lines(view, head)` gives at most 80 columns, whatever the names are.

```
postgres://app@db/shop: 18 s left
3.42 active sessions (2 CPUs), and 1.0 idle in transaction
CCCCCCCCCCCCCCIIIIIIIILLLL            a bar by wait class, a line with its figures
.:-=+*#@                              the last minute
events / queries / who waits for whom
```
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from dbdyno.analysis.live_view import BlockedLine, LiveView, Table
from dbdyno.report import numbers

WIDTH = 80
_BARS = "▁▂▃▄▅▆▇█"
_ASCII_BARS = ".:-=+*#@"
_FULL = "█"
_BLOCKED_LINES_MAX = 6
_NAME_WIDTH = 30
_BESIDE_WIDTH = 22
# What stands around the tables: head, sessions, bar, classes, course, keys, and two lines for each table's headings.
_LINES_AROUND = 12

# Green computes, blue waits for a device, red for another session; the rest in colours of their own.
_STYLES = {
    "CPU": "green",
    "run queue": "yellow",
    "IO": "blue",
    "Lock": "red",
    "LWLock": "magenta",
    "Client": "cyan",
    "IPC": "bright_magenta",
    "no event": "white",
    "no clock": "bright_black",
}
_OTHER_STYLE = "bright_yellow"


def lines(view: LiveView, head: str, *, height: int = 24, blocks: bool = True) -> list[Text]:
    """The picture, cut to `height` lines; `blocks`: whether the terminal has block characters."""
    blocked = list(_blocked(view.blocked))
    each = max(2, (height - _LINES_AROUND - len(blocked)) // max(1, len(view.tables)))
    drawn = [
        _cut(Text(head + (" - stopped, space goes on" if view.paused else ""), style="bold")),
        *_sessions(view, blocks=blocks),
    ]
    if view.into is not None:
        drawn.append(_cut(Text(f"in {view.into} (left: back)", style="bold")))
    for table in view.tables:
        drawn += _table(table, view, each)
    drawn += blocked
    picture = [*drawn[: height - 1], _keys(view)]
    for line in picture:
        line.no_wrap, line.overflow = True, "crop"  # in a terminal of less than 80 columns
    return picture


def _sessions(view: LiveView, *, blocks: bool) -> Iterator[Text]:
    cpus = f" ({numbers.count(view.cpus, 'CPU')})" if view.cpus else ""
    idle = view.idle_in_transaction
    beside = f", and {numbers.significant(idle, most_decimals=1)} idle in transaction" if idle >= 0.05 else ""
    yield Text(f"{numbers.significant(view.active_sessions, most_decimals=2)} active sessions{cpus}{beside}")
    yield _bar(view, _FULL if blocks else None)
    legend = Text()
    for name, sessions in view.classes:
        entry = f"{name} {numbers.significant(sessions, most_decimals=2)}  "
        if len(legend) + len(entry) <= WIDTH:
            legend.append(entry, style=_STYLES.get(name, _OTHER_STYLE))
    legend.rstrip()
    yield legend
    yield _course(view, _BARS if blocks else _ASCII_BARS)


def _bar(view: LiveView, full: str | None) -> Text:
    """One column for each portion of what is the most of now, the last minute and the CPUs."""
    scale = max([view.cpus or 0, view.active_sessions, *view.course, 1.0])
    bar = Text()
    reached = 0.0
    for name, sessions in view.classes:
        reached += sessions
        columns = min(WIDTH, round(reached / scale * WIDTH)) - len(bar)
        bar.append((full or name[:1]) * columns, style=_STYLES.get(name, _OTHER_STYLE))
    return bar


def _course(view: LiveView, bars: str) -> Text:
    highest = max(view.course, default=0.0)
    if highest <= 0.0:
        return Text("nothing active", style="dim")
    course = "".join(bars[round(active / highest * (len(bars) - 1))] for active in view.course)
    caption = f"  max {numbers.significant(highest, most_decimals=2)}"
    return Text.assemble((course, "cyan"), (caption, "dim"))


def _table(table: Table, view: LiveView, lines_max: int) -> Iterator[Text]:
    seconds = f"{table.title}, last {view.window_steps} s" if view.window_steps else table.title
    heading = f"  {seconds:<{_NAME_WIDTH}} {'sessions':>8} {'share':>6} {'seen':>7}  {table.beside}"
    yield Text(heading.rstrip(), style="dim")
    first = _first_shown(table, lines_max)
    for line in table.lines[first : first + lines_max]:
        figures = (
            f"{numbers.significant(line.sessions, most_decimals=2):>8} {numbers.percent(line.share):>6}"
            f" {line.snapshots:>7,}"
        )
        mark = "> " if line.selected else "  "
        name = _fitted(line.name, _NAME_WIDTH)
        text = f"{mark}{name} {figures}  {line.beside[:_BESIDE_WIDTH]}".rstrip()
        yield _cut(Text(text, style="reverse" if line.selected else ""))


def _first_shown(table: Table, lines_max: int) -> int:
    """Where the table begins so that the chosen line is in it."""
    chosen = next((place for place, line in enumerate(table.lines) if line.selected), 0)
    return max(0, chosen - lines_max + 1)


def _blocked(tree: Sequence[BlockedLine]) -> Iterator[Text]:
    if not tree:
        return
    yield Text("  who waits for whom", style="dim")
    for line in tree[:_BLOCKED_LINES_MAX]:
        waits = f" waits for {line.lock}" if line.lock else ""
        blocks = f" blocks {numbers.count(line.blocked, 'session')}" if line.blocked else ""
        words = [str(line.pid) if line.pid else "", line.who, line.doing]
        told = ", ".join(word for word in words if word)
        yield _cut(Text(f"{'  ' * (line.depth + 1)}{told}:{blocks}{waits}", style="red" if not line.depth else ""))
    if len(tree) > _BLOCKED_LINES_MAX:
        yield Text(f"  and {len(tree) - _BLOCKED_LINES_MAX} more", style="dim")


def _keys(view: LiveView) -> Text:
    look = "left back" if view.into is not None else "up/down enter look into"
    return Text(f"space {'go on' if view.paused else 'stop'}  s sort by ({view.sort})  {look}  q end", style="dim")


def _fitted(text: str, width: int) -> str:
    return text.ljust(width) if len(text) <= width else text[: width - 3] + "..."


def _cut(text: Text) -> Text:
    if len(text) > WIDTH:
        text.truncate(WIDTH - 3)
        text.append("...")
    return text
