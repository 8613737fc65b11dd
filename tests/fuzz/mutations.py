"""Hostile variants of a document: values of other types and sizes at any place, parts missing or repeated, the text cut or flipped."""

import copy
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

Where = tuple[str | int, ...]

ODD_TEXTS = (
    "", " ", "\x00", "\x1b[31mred\x1b[0m", "[bold red]x[/]", "[/]", "[link=file:///etc/passwd]x[/link]", "<script>alert(1)</script>",
    "</td>", "$\\frac{", "$x_{", "\\", "%s%n", "{0}", "\u202e\u2066", "\ud800", "\U0001f469\u200d\U0001f469", "`|`\n# x", "=1+1", "@x",
    "../../etc", "é" * 3_000, "a" * 100_000, "\n" * 50, "NaN", "2026-13-01T00:00:00Z", "9" * 5_000,
)  # fmt: skip
ODD_NUMBERS = (0, -1, 1, 2, 3, 1e-9, -1e-9, 1e-300, 5e-324, 1e15, 1e16, -1e15, 1e308, 2**53, 2**63, -(2**63), 10**400, 0.1, 1e9, -0.0, True)
ODD_BYTES = (b"[" * 2_000, b"\x00", b"\xff", b"NaN", b"1e999", b"9" * 5_000, b"\xef\xbb\xbf")

scalars = (
    st.none()
    | st.booleans()
    | st.sampled_from(ODD_NUMBERS)
    | st.sampled_from(ODD_TEXTS)
    | st.integers()
    | st.floats()
    | st.text(max_size=30)
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4), max_leaves=8
)


def places(value: Any, where: Where = ()) -> Iterator[Where]:
    """Where every value of a document stands, the document itself first."""
    yield where
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from places(item, (*where, key))


@st.composite
def documents(draw: st.DrawFn, source: Any, most: int = 4) -> Any:
    """The document with one to `most` places changed, each after the others."""
    made = copy.deepcopy(source)
    for _ in range(draw(st.integers(1, most))):
        spots = [where for where in places(made) if where]
        if not spots:
            return draw(values)
        *path, key = draw(st.sampled_from(spots))
        holder: Any = made
        for step in path:
            holder = holder[step]
        change = draw(st.sampled_from(("value", "value", "value", "number", "drop", "repeat", "borrow", "rename")))
        if change == "drop":
            del holder[key]
        elif change == "repeat" and isinstance(holder, list):
            holder.extend(copy.deepcopy(holder[key]) for _ in range(draw(st.sampled_from((1, 2, 50)))))
        elif change == "borrow":
            taken: Any = made
            for step in draw(st.sampled_from(spots)):
                taken = taken[step]
            holder[key] = copy.deepcopy(taken)
        elif change == "rename" and isinstance(holder, dict):
            holder[draw(st.sampled_from(ODD_TEXTS) | st.text(max_size=8))] = holder.pop(key)
        elif change == "number":
            holder[key] = draw(st.sampled_from(ODD_NUMBERS) | st.floats())
        else:
            holder[key] = draw(values)
    return made


@st.composite
def contents(draw: st.DrawFn, source: bytes) -> bytes:
    """The file's bytes: cut, with bytes changed or put in, or something else altogether."""
    how = draw(st.sampled_from(("cut", "change", "insert", "other")))
    if how == "other":
        return draw(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
    spot = draw(st.integers(0, len(source)))
    if how == "cut":
        return source[:spot]
    piece = draw(st.binary(min_size=1, max_size=8) | st.sampled_from(ODD_BYTES))
    return source[:spot] + piece + source[spot + (len(piece) if how == "change" else 0) :]


def as_bytes(document: Any) -> bytes:
    """A document as a file's content, NaN and half surrogates included: whoever writes such a file does not ask."""
    return json.dumps(document).encode()


def files(source: Any) -> st.SearchStrategy[bytes]:
    """A file's content: mostly a changed document, sometimes changed bytes."""
    changed = documents(source).map(as_bytes)
    return st.one_of(changed, changed, changed, contents(as_bytes(source)))
