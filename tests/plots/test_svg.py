"""Charts as SVG inside a page: they refer to nothing outside, share no id, follow the page's colours and speak for themselves."""

import re
from xml.etree import ElementTree

import pytest

from plots import bars
from plots.measures import measures
from plots.results import read_result
from plots.svg import SVG, XLINK, Alternative, svg_of
from tests.plots.cases import CASES

pytestmark = pytest.mark.slow

INSTEAD = Alternative("Seconds a step", "fused 12.9 s & two passes <16.8 s>")


@pytest.fixture
def chart(written):
    def make(case="schema1", prefix="a-"):
        drawn = measures(read_result(written(CASES[case])))
        return svg_of(lambda figure, box: bars.draw_body(figure, box, drawn), 4.2, 6.5, prefix, INSTEAD)

    return make


def ids(svg):
    return [element.attrib["id"] for element in ElementTree.fromstring(svg).iter() if "id" in element.attrib]


def test_ids_are_unique_within_and_between_charts(chart):
    both = ids(chart(prefix="a-")) + ids(chart(prefix="b-"))
    assert len(both) > 50
    assert len(set(both)) == len(both)
    assert {name[:2] for name in both} == {"a-", "b-"}


def test_every_reference_is_to_an_id_of_the_same_chart(chart):
    svg = chart()
    uses = [element.attrib[f"{{{XLINK}}}href"] for element in ElementTree.fromstring(svg).iter(f"{{{SVG}}}use")]
    targets = [use.removeprefix("#") for use in uses] + re.findall(r"url\(#([^)]*)\)", svg)
    assert len(targets) > 20
    assert set(targets) <= set(ids(svg))


def test_no_address_but_the_two_namespaces_and_no_style_for_the_whole_page(chart):
    svg = chart()
    assert set(re.findall(r"https?://[^\"' ]*", svg)) == {SVG, XLINK}
    assert not {"metadata", "style", "script"} & {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(svg).iter()}


def test_every_colour_is_one_of_the_pages(chart):
    svg = chart("one slow step")
    # Matplotlib names its own first colour for what is not drawn at all.
    assert set(re.findall(r"#[0-9a-f]{6}", svg)) <= {"#1f77b4"}
    assert {"var(--ink)", "var(--surface)", "var(--colour-0072b2)", "var(--colour-e69f00)"} <= set(re.findall(r"var\([^)]*\)", svg))


def test_a_screen_reader_has_a_title_and_a_description(chart):
    root = ElementTree.fromstring(chart())
    assert root.attrib["role"] == "img"
    said = {element.attrib.get("id"): element.text for element in root}
    assert [said[name] for name in root.attrib["aria-labelledby"].split()] == [INSTEAD.title, INSTEAD.description]


def test_the_same_data_give_the_same_chart(chart):
    assert chart() == chart()


@pytest.mark.parametrize("case", CASES)
def test_every_case_can_be_drawn_narrow(chart, case):
    assert chart(case).startswith("<svg")
