"""The profile of a whole server as one HTML file that works offline: `write(profile, path)`.

    ServerProfile -> charts, tables and trees -> server_profile.html.j2 -> text

The same look as the report of a run, and the same rule: every figure drawn stands in the findings.
"""

from __future__ import annotations

from dbdyno.report.html.server_profile.page import page, write

__all__ = ["page", "write"]
