"""A flame graph as the core draws one, small enough to be read: 750 µs of a hash join, 250 µs of a flush."""

from __future__ import annotations

from dbdyno.report.html.flame import FlameGraph

# Title, left edge and width in microseconds, y.
FRAMES = [
    ("all", 0, 1000, 85),
    ("PostgresMain", 0, 1000, 69),
    ("ExecHashJoin: joins by &lt;hash&gt; &amp; compares", 0, 750, 53),
    ("XLogFlush: waiting for WAL to be durable", 750, 250, 53),
    ("IO:WalSync", 750, 250, 37),
]


def graph() -> FlameGraph:
    """Frames by name: all, PostgresMain, ExecHashJoin, XLogFlush, IO:WalSync."""
    return FlameGraph("All sessions", svg())


def svg() -> str:
    """The SVG, in inferno's form."""
    frames = "".join(
        f"<g><title>{title} ({us:,} microseconds, {us / 10:.2f}%)</title>"
        f'<rect x="{left / 10:.4f}%" y="{y}" width="{us / 10:.4f}%" height="15" fill="rgb(250,200,90)" '
        f'fg:x="{left}" fg:w="{us}"/><text x="0.2500%" y="{y + 10}.50">{title}</text></g>'
        for title, left, us, y in FRAMES
    )
    return (
        '<?xml version="1.0" standalone="no"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" '
        '"http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
        '<svg version="1.1" width="1200" height="118" onload="init(evt)" viewBox="0 0 1200 118" '
        'xmlns="http://www.w3.org/2000/svg" xmlns:fg="http://github.com/jonhoo/inferno">'
        '<style type="text/css">text { font-size: 12px }</style><script><![CDATA[init();]]></script>'
        '<rect width="100%" height="118"/><svg id="frames" x="10" width="1180" total_samples="1000">'
        f"{frames}</svg></svg>"
    )
