"""The report as one HTML file that works offline: `write_html(findings)`.

    findings -> arrangement (groups, labels, colours) -> charts and tables -> page template -> text

plotly.js is embedded once; there is no other script, font or picture, and a content security policy
in the page forbids the browser to fetch any. The file is about 4.9 MB, of which plotly.js is 4.8 MB.
"""

from __future__ import annotations

from dbdyno.report.html.page import write_html

__all__ = ["write_html"]
