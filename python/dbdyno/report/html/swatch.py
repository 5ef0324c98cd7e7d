"""The little picture beside a key's text: a filled area, a line with its symbol, or the shades of a heat map."""

from __future__ import annotations

from markupsafe import Markup

from dbdyno.report.html.palette import Fill, Mark, Shade, Stroke, translucent

SYMBOL_PATHS = {
    "circle": "M8 5.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9z",
    "square": "M4 6h8v8h-8z",
    "square-open": "M4.5 6.5h7v7h-7z",
    "diamond": "M8 4.5l5.2 5.5l-5.2 5.5l-5.2-5.5z",
    "triangle-up": "M8 4.8l5 9h-10z",
    "triangle-down": "M8 15.2l5-9h-10z",
    "cross": "M6.3 5h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3v-3.4h3.3z",
    "x": "M4 7.6l1.6-1.6l2.4 2.4l2.4-2.4l1.6 1.6l-2.4 2.4l2.4 2.4l-1.6 1.6l-2.4-2.4l-2.4 2.4l-1.6-1.6l2.4-2.4z",
}

HATCH_PATHS = {
    "/": "M-2 8l10-10M2 14l14-14M8 18l10-10",
    "x": "M-2 8l10-10M2 14l14-14M8 18l10-10M-2 6l12 12M2 0l16 16M10 -2l8 8",
    "-": "M0 4h16M0 10h16",
}


DASHES = {"solid": "none", "dash": "5 3", "dot": "2 2"}


def svg(look: Fill | Mark | Shade | Stroke | None) -> Markup:
    """Inline SVG, hidden from screen readers: the key's text says the same."""
    if look is None:
        return Markup("")
    drawing = _drawing(look)
    return Markup(f'<svg class="swatch" viewBox="0 2 16 16" aria-hidden="true">{drawing}</svg>')


def _drawing(look: Fill | Mark | Shade | Stroke) -> str:
    match look:
        case Fill():
            return _area(look)
        case Mark():
            return _symbol(look)
        case Shade():
            return _shades(look)
        case Stroke():
            return _stroke(look)


def _shades(shade: Shade) -> str:
    steps = enumerate((0.25, 0.5, 0.75, 1.0))
    return "".join(
        f'<rect x="{4 * place}" y="4" width="4" height="12" fill="{translucent(shade.colour, opacity)}"/>'
        for place, opacity in steps
    )


def _area(fill: Fill) -> str:
    if not fill.hatch:
        return f'<rect y="4" width="16" height="12" fill="{fill.colour}"/>'
    lines = f'<path d="{HATCH_PATHS[fill.hatch]}" stroke="{fill.colour}" stroke-width="2.4" fill="none"/>'
    frame = f'<rect y="4" width="16" height="12" fill="none" stroke="{fill.colour}"/>'
    return f'<svg y="4" width="16" height="12" viewBox="0 0 16 12">{lines}</svg>{frame}'


def _symbol(mark: Mark) -> str:
    outline = mark.symbol.endswith("-open")
    paint = f'fill="none" stroke="{mark.colour}" stroke-width="2"' if outline else f'fill="{mark.colour}"'
    return f'<path d="{SYMBOL_PATHS[mark.symbol]}" {paint}/>'


def _stroke(stroke: Stroke) -> str:
    return f'<path d="M0 10h16" stroke="{stroke.colour}" stroke-width="2.4" stroke-dasharray="{DASHES[stroke.dash]}"/>'
