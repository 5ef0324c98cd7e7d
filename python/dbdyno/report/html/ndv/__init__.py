"""The page of a distinct count, as one HTML file that works offline: `page(findings)`.

findings -> errors (off by how much), growth (ratio or constant), plans (before and after), tables -> text
"""

from __future__ import annotations

from dbdyno.report.html.ndv.page import page

__all__ = ["page"]
