"""Trend charts as SVG inside a page. The only home of the chart library."""

from __future__ import annotations

import dataclasses
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

_SVG = "http://www.w3.org/2000/svg"
_LABELS = 4
_COLOURS = ("var(--accent)", "var(--good)")


@dataclasses.dataclass(frozen=True, slots=True)
class Point:
    """One run: its time (ISO 8601), the metric's value, the text a reader sees when pointing at it, and whether a baseline was accepted after it."""

    time: str
    value: float | None
    text: str
    accepted: bool = False


def trend_chart(name: str, points: Sequence[Point], *, fraction: bool) -> Markup:
    """One metric over past runs, oldest first.

    `fraction` fixes the scale to 0..1. All texts are escaped by the writer of the XML; scripts are taken out. `name` tells charts of a page apart.
    """
    import pygal  # noqa: PLC0415 - slow, and wanted by one page only
    from pygal.style import Style  # noqa: PLC0415 - as above

    # It leaves behind a finder of a kind that Python has given up, about which every later search for a module in vain would warn.
    sys.meta_path[:] = [finder for finder in sys.meta_path if hasattr(finder, "find_spec")]
    style = Style(
        background="transparent", plot_background="transparent", foreground="var(--ink)", foreground_strong="var(--ink)", foreground_subtle="var(--faint)", colors=_COLOURS,
        font_family="system-ui, sans-serif", guide_stroke_color="var(--line)", major_guide_stroke_color="var(--line)", label_font_size=15, major_label_font_size=15,
        legend_font_size=16, stroke_width="2.5", opacity="1",
    )  # fmt: skip
    chart = pygal.Line(
        js=[], style=style, disable_xml_declaration=True, width=760, height=300, legend_at_bottom=True, show_x_guides=False, dots_size=3.5, truncate_label=16, truncate_legend=-1,
        range=(0, 1) if fraction else None, show_legend=any(point.accepted for point in points), formatter=lambda value: f"{value:.4g}", no_data_text="nothing measured", margin=8,
        margin_left=24, margin_right=40,
    )  # fmt: skip
    chart.uuid = name
    chart.x_labels = _labels(points)
    chart.add("value", [_dot(point) for point in points], allow_interruptions=True)
    if any(point.accepted for point in points):
        chart.add("accepted", [_dot(point) if point.accepted else None for point in points], stroke=False, dots_size=7)
    return _inlined(chart.render(is_unicode=True))


def _dot(point: Point) -> dict[str, Any] | None:
    return None if point.value is None else {"value": point.value, "formatter": lambda _value: point.text}


def _labels(points: Sequence[Point]) -> list[str]:
    """A few times, so that they do not run into each other; the others are blank."""
    step = max(1, -(-len(points) // _LABELS))
    return [point.time[5:16].replace("T", " ") if place % step == 0 else "" for place, point in enumerate(points)]


def _inlined(svg: str) -> Markup:
    """The drawing without scripts, and each dot's value as its tooltip, which a browser shows by itself."""
    ET.register_namespace("", _SVG)
    root = ET.fromstring(svg)  # noqa: S314 - as at the import
    for parent in root.iter():
        for child in list(parent):
            if child.tag == f"{{{_SVG}}}script":
                parent.remove(child)
            elif child.tag == f"{{{_SVG}}}desc":
                if child.get("class") == "value":
                    child.tag = f"{{{_SVG}}}title"
                else:
                    parent.remove(child)
    return Markup(ET.tostring(root, encoding="unicode"))  # noqa: S704 - written by an XML writer, which escapes
