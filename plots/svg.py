"""From a drawing function to SVG that stands inside an HTML page: no references out of it, ids of its own, colours that follow the page."""

import io
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from xml.etree import ElementTree

from matplotlib.figure import Figure

from plots import page, style

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
# Colours of the style that have a name on the page; those of data have their own. So a chart is as dark as its page.
NAMED = {
    style.INK: "--ink",
    style.MUTED: "--muted",
    style.FAINT: "--faint",
    style.ALERT: "--alert",
    style.PAPER: "--surface",
    style.BAND: "--band",
    style.BEST: "--best",
}
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")


@dataclass(frozen=True)
class Alternative:
    """What a screen reader says instead of a chart: what it is, and what it shows."""

    title: str
    description: str


def svg_of(fill: Callable[[Figure, page.Box], None], width_in: float, height_in: float, prefix: str, instead: Alternative) -> str:
    """Return what `fill` draws into a box of that size as one <svg> element.

    Texts become outlines, so that they stand where they were measured on every machine; a screen reader has `instead`.
    Every id begins with `prefix`, so that several charts can share a page.
    """
    with style.applied(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=(width_in, height_in), facecolor="none")
        fill(figure, page.Box(0, 0, width_in, height_in))
        content = io.BytesIO()
        # A fixed salt: the same data gives the same ids, and so the same file.
        with style.changed({"svg.fonttype": "path", "svg.hashsalt": "gspo-bench"}):
            figure.savefig(content, format="svg", facecolor="none", metadata={"Date": None})
    return _embedded(content.getvalue(), prefix, instead)


def _embedded(document: bytes, prefix: str, instead: Alternative) -> str:
    root = ElementTree.fromstring(document)
    for parent in list(root.iter()):
        for child in list(parent):
            # The metadata names addresses; the style would count for the whole page, which has the same rule for charts alone.
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                parent.remove(child)
    used = {target for element in root.iter() for name, value in element.attrib.items() for target in _targets(name, value)}
    for element in root.iter():
        if element.attrib.get("id") not in used:  # such as a bar's name, which both of its panels have
            element.attrib.pop("id", None)
        for name, value in list(element.attrib.items()):
            element.set(name, _own(name, value, prefix))
    size = {name: root.attrib.pop(name) for name in ("width", "height")}
    root.attrib.pop("version", None)
    root.set("role", "img")
    root.set("aria-labelledby", f"{prefix}title {prefix}description")
    for place, (tag, text) in enumerate((("title", instead.title), ("desc", instead.description))):
        said = ElementTree.Element(f"{{{SVG}}}{tag}", id=prefix + ("title" if tag == "title" else "description"))
        said.text = text
        root.insert(place, said)
    root.set("style", f"aspect-ratio: {size['width'].removesuffix('pt')} / {size['height'].removesuffix('pt')}")
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    return ElementTree.tostring(root, encoding="unicode")


def _targets(name: str, value: str) -> list[str]:
    return [value.removeprefix("#")] if name == f"{{{XLINK}}}href" else _REFERENCE.findall(value)


def _own(name: str, value: str, prefix: str) -> str:
    """Return an attribute's value with ids and references of this chart, and with the page's colours."""
    if name == "id":
        return prefix + value
    if name == f"{{{XLINK}}}href":
        return f"#{prefix}{value.removeprefix('#')}"
    if name == "style":
        value = _COLOUR.sub(lambda found: _coloured(found.group()), value)
    return _REFERENCE.sub(lambda found: f"url(#{prefix}{found.group(1)})", value)


def variable(colour: str) -> str:
    """Return the CSS variable that has a colour of the style."""
    return NAMED.get(colour) or f"--colour-{colour.removeprefix('#')}"


def _coloured(colour: str) -> str:
    return f"var({variable(colour)})" if colour in NAMED or colour in style.DATA else colour
