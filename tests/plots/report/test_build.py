"""What stands on the page, read as HTML: each part when its data are there, nothing when they are not, and every text as a text."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from plots.cli import main
from plots.report.cautions import Warned
from plots.report.page import Page, html_of
from plots.report.section import Section, Table
from tests.plots.report.cases import PAGES, everything, hostile, learn, repeat
from tests.plots.report.conftest import written
from tests.plots.sweep_cases import micro_batches, on_a_cpu

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[3] / "results" / "published"
PUBLISHED = [path for path in sorted(FOLDER.glob("*.json")) if json.loads(path.read_text())["kind"] == "gspo-bench"]


class Parts(HTMLParser):
    """Headings, and each table by its caption as rows of texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.headings: list[str] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.addresses: list[str] = []
        self.tags: list[str] = []
        self._into: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in ("href", "src", "xlink:href", "srcset", "action", "data")]
        if tag == "tr":
            list(self.tables.values())[-1].append([])
        if tag in ("h1", "h2", "caption", "th", "td"):
            self._into = []

    def handle_data(self, data):
        self._into.append(data)

    def handle_endtag(self, tag):
        text = "".join(self._into).replace("\N{NO-BREAK SPACE}", " ")
        if tag in ("h1", "h2"):
            self.headings.append(text)
        elif tag == "caption":
            self.tables[text] = []
        elif tag in ("th", "td"):
            list(self.tables.values())[-1][-1].append(text)


def plain(page: Path) -> str:
    """A page's text with ordinary blanks."""
    return page.read_text().replace("\N{NO-BREAK SPACE}", " ")


@pytest.fixture
def parts(report):
    return lambda **documents: Parts(report(**documents).read_text())


def test_every_part_is_there_when_its_data_are(cases):
    assert Parts(cases("everything").read_text()).headings[1:] == [
        "Before you rely on it",
        "The two paths",
        "Where the time goes",
        "Behind a slow wire",
        "Again, on fresh servers",
        "Which server settings",
        "More GPUs",
        "Does it learn?",
        "Every setting and version",
        "The sweep's settings and versions",
        "The scaling run's settings and versions",
        "The learning run's settings and versions",
    ]


def test_a_part_without_data_is_not_there(parts):
    assert parts(last_gspo_bench=PAGES["bare"]).headings[1:] == ["The two paths"]


def test_a_sweeps_server_is_told_without_the_settings_of_its_last_row(parts):
    swept = micro_batches()
    swept["environment"] = {"client": None, "server": {"cpu": "AMD EPYC", "backend_config": {"x": 64}, "preset_changed": ["x"]}}
    rows = parts(last_sweep=swept).tables["Server"]
    assert [row[0] for row in rows[1:]] == ["cpu"]


def test_a_result_that_is_not_valid_is_titled_so_with_the_reason_and_what_to_do(report):
    text = plain(report(last_gspo_bench=PAGES["invalid"]))
    assert Parts(text).headings[0] == "Not a valid result: do not use these numbers"
    assert "<strong>NOT VALID: gspo: row 1 came as row 2</strong>" in text
    assert "What to do: Try another server setting." in text
    assert "The median saving" not in text


def test_the_paths_table_says_what_the_file_says(parts):
    rows = parts(last_gspo_bench=PAGES["published"]).tables["A step of each path"]
    assert rows[1][0] == "fused GSPO (native_1pass)"
    assert rows[1][3:] == ["12.92 s", "0.229 s", "586.0"]
    assert rows[2][3:] == ["16.77 s", "0.458 s", "451.3"]


def test_tokens_a_second_are_what_the_bars_show_and_say_by_which_middle(parts):
    document = everything()
    count, path = document["summary"]["total_tokens_per_step"], document["native_1pass"]
    path |= {"times": [0.5, 0.5, 0.5, 2.5], "median_s": 0.5, "mean_s": 1.0, "tokens_per_s": count / 1.0}
    rows = parts(last_gspo_bench=document).tables["A step of each path"]
    assert rows[0][5] == "tokens/s, median"
    assert float(rows[1][5].replace(",", "")) == pytest.approx(count / 0.5, rel=1e-3)
    assert parts(last_gspo_bench=PAGES["published"]).tables["A step of each path"][0][5] == "tokens/s, mean"


def test_memory_of_gpus_is_told_of_a_run_that_had_one(parts):
    def captions(gpus):
        memory = [{"stage": "ready", "gpus": gpus}, {"stage": "measured", "gpus": gpus}]
        document = everything()
        document["environment"] |= {"memory": memory}
        return list(parts(last_gspo_bench=document).tables)

    assert "GPU memory" in captions([{"used_bytes": 2**30, "peak_bytes": 2**31, "total_bytes": 2**34}])
    assert "GPU memory" not in captions([])
    assert "Server" in captions([])


def test_a_number_never_stands_apart_from_its_unit_wherever_it_is_written():
    text = "23.0 % of 8 pairs, < 0.1 %, 85.4 ms, 0.5 s, 44.9 GiB, 184 kB, 989 TFLOP/s, 1.60 \N{MULTIPLICATION SIGN}, 100 Mbit/s"
    section = Section("k", text, (text,), (text,), tables=(Table(text, (text, text), ((text, text),)),), notes=(text,))
    made = html_of(Page(text, text, text, (text,), (Warned("C", text, text, True),), (section,), (text,)))
    assert all(pair in made for pair in ("23.0\xa0% of 8\xa0pairs", "&lt;\xa00.1\xa0%", "1.60\xa0\N{MULTIPLICATION SIGN}", "<wbr>0\xa0%"))
    broken = re.findall(r"\d(?:<wbr>)? (?:<wbr>)?(?:%|pairs|ms|s\b|GiB|kB|TFLOP|\N{MULTIPLICATION SIGN}|Mbit)|&lt; \d", made)
    assert broken == []


def test_the_saving_has_its_interval_and_its_pairs(parts):
    document = everything()
    document["comparisons"] = [
        {
            "baseline": "custom_2pass",
            "candidate": "native_1pass",
            "saving_median_pct": 23.04,
            "ci_low_pct": 21.0,
            "ci_high_pct": -0.5,
            "ci_level": 0.95,
            "pairs": 8,
            "faster_in": 7,
        }
    ]
    rows = parts(last_gspo_bench=document).tables["The saving, over pairs of steps"]
    assert rows[1] == ["Fused GSPO against two passes", "23.0 %", "21.0 % to −0.5 % (95 %)", "7 of 8 pairs"]


def test_the_phases_of_both_paths_stand_beside_each_other_and_end_with_the_whole_step(cases):
    rows = Parts(cases("everything").read_text()).tables["A mean step, phase by phase"]
    assert rows[0] == ["phase", "fused GSPO", "two passes"]
    assert ["forward", "none", "0.170 s (22.7 %)"] in rows
    assert ["queued", "10.00 ms (2.0 %)", "20.00 ms (2.7 %)"] in rows
    assert rows[-1] == ["the whole step, mean", "0.500 s", "0.750 s"]


def test_a_scaling_run_has_every_number_of_gpus_with_its_pace_and_efficiency(cases):
    rows = Parts(cases("everything").read_text()).tables["Every number of GPUs, its median step"]
    assert rows[0] == ["on", "batch", "fused, one pass", "two passes", "saving", "pace", "efficiency", "how it ended"]
    assert rows[2] == ["2 GPUs", "same batch", "5.000 s", "7.143 s", "30.0 %", "1.60 ×", "80.0 %", "ok"]
    assert rows[7] == ["8 GPUs", "growing batch", "12.80 s", "18.29 s", "30.0 %", "5.00 ×", "62.5 %", "ok"]


def test_a_sweep_has_every_row_the_best_named_and_the_failed_with_their_reason(cases):
    rows = Parts(cases("everything").read_text()).tables["Every setting, its median step"]
    assert rows[1] == ["micro-batch 1", "8.000 s", "10.00 s", "20.0 %", "6.0 GiB", "ok"]
    assert [row[0] for row in rows if row[-1] == "best"] == ["micro-batch 16"]
    assert [row[-1][:13] for row in rows if row[0] == "micro-batch 32"] == ["out of memory"]


def test_a_sweep_names_what_is_not_told_apart_from_its_best(parts, report):
    document = on_a_cpu()
    document["best"]["not_told_apart"] = ["micro-batch 8"]
    parts(last_sweep=document)
    assert "0.540 s a fused step at best. Not told apart from it (step times overlap): micro-batch 8." in plain(report())


def test_a_sweep_without_a_gpu_has_no_column_of_memory(parts):
    rows = parts(last_sweep=on_a_cpu()).tables["Every setting, its median step"]
    assert rows[0] == ["setting", "fused, one pass", "two passes", "saving", "how it ended"]
    assert rows[5] == ["micro-batch 16", "0.540 s", "0.756 s", "28.6 %", "best"]


def test_a_learning_run_has_every_step(cases):
    made = Parts(cases("everything").read_text())
    steps = next(rows for caption, rows in made.tables.items() if caption.startswith("Every step of"))
    assert len(steps) == 41
    assert steps[1][0] == "0" and steps[1][2] == "2.7 %"


@pytest.mark.parametrize(
    ("name", "document", "title"),
    [
        ("last_sweep", micro_batches(), "micro-batch 16: 16.0 times as fast as micro-batch 1"),
        ("last_repeat", repeat(), "The same benchmark, on fresh servers"),
    ],
)
def test_a_page_of_one_other_file_has_its_title(parts, name, document, title):
    assert parts(**{name: document}).headings[0] == title


def test_a_learning_run_without_a_step_yet_is_no_section_and_stops_nothing(tmp_path):
    record_only = written(tmp_path, (learn()[0], []), last_gspo_bench=PAGES["bare"])
    assert Parts(record_only.read_text()).headings[1:] == ["The two paths"]


def test_the_projection_is_called_one(parts, report):
    made = parts(last_gspo_bench=everything())
    rows = made.tables["A projected mean step by the wire's round trip at 100 Mbit/s"]
    assert rows[0] == ["round trip", "fused, one pass", "two passes", "saving, of means"]
    assert rows[2] == ["20 ms", "0.540 s", "0.880 s", "37.5 %"]
    assert "A projection, not a measurement" in report().read_text()


def test_every_repeated_run_is_a_row_and_the_spread_between_stands_beside_the_spread_within(parts, report):
    rows = parts(last_repeat=repeat()).tables["Every run"]
    assert rows[1] == ["run 1", "30.0 %", "29.0 % to 31.0 %", "0.500 s", "0.750 s", "complete"]
    assert rows[2] == ["run 2", "none", "none", "none", "none", "failed: no result; it ended with exit code 3"]
    text = plain(report())
    spread = "the saving spread over 4.0 points: 30.0 % to 34.0 %, mean 32.0 %, standard deviation 2.8 points"
    assert f"Between 2 fresh servers {spread}; within one run its interval is 2.5 points wide" in text


def test_a_warning_has_its_words_and_what_to_do(parts, report):
    warning = {"code": "DRIFT", "text": "two-pass steps drifted by +12 %", "action": "Check for other load.", "unstable": True}
    parts(last_gspo_bench=everything() | {"warnings": [warning]})
    text = plain(report())
    assert "<strong>Warning:</strong> Two-pass steps drifted by +12 %." in text
    assert "What to do: Check for other load." in text


def test_every_setting_of_the_file_is_a_row_under_its_full_name(parts):
    document = everything()
    document["settings"] |= {"nested": {"deep": [1, 2]}, "off": False, "nothing": None}
    document["environment"]["server"]["gpus"] = [{"name": "NVIDIA L4", "total_bytes": 24 * 2**30}]
    made = parts(last_gspo_bench=document)
    settings = dict(made.tables["Settings of the run"])
    assert (settings["nested.deep"], settings["off"], settings["nothing"]) == ("1, 2", "no", "none")
    assert set(document["settings"]) - {"nested"} <= set(settings)
    server = dict(made.tables["Server"])
    assert (server["gpus.1.name"], server["gpus.1.total_bytes"]) == ("NVIDIA L4", "24.0 GiB")
    for name, version in document["environment"]["server"]["versions"].items():
        assert server[f"versions.{name}"] == version


@pytest.mark.parametrize("case", PAGES)
def test_a_page_refers_to_nothing_outside_and_runs_nothing(cases, case):
    made = Parts(cases(case).read_text())
    assert {address for address in made.addresses if not address.startswith("#")} == {"data:,"}
    assert not {"script", "img", "iframe", "object", "embed", "base", "form"} & set(made.tags)
    assert made.tags.count("style") == 1


@pytest.mark.parametrize("case", PAGES)
def test_ids_are_unique_on_a_page(cases, case):
    ids = re.findall(r'\bid="([^"]*)"', cases(case).read_text())
    assert len(set(ids)) == len(ids)


def test_huge_texts_are_bounded(report):
    document = hostile(everything(), "W" * 100_000)
    document["settings"] |= {f"key{number}" * 100: "x" * 10_000 for number in range(5_000)}
    assert report(last_gspo_bench=document).stat().st_size < 1_000_000


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_a_published_result_is_a_page(path, tmp_path):
    out = tmp_path / "page.html"
    assert main([str(path), "--out", str(out)]) == 0
    made = Parts(out.read_text())
    assert "The two paths" in made.headings and "Every setting and version" in made.headings


def test_the_same_files_give_the_same_page(report):
    assert report(last_gspo_bench=everything()).read_bytes() == report().read_bytes()


def test_a_file_that_is_no_result_is_one_line_and_leaves_no_page(tmp_path, capsys):
    (tmp_path / "last_repeat.json").write_text(json.dumps({"kind": "other"}))
    assert main(["--results", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert "last_repeat.json: kind is" in err and err.count("\n") == 1
    assert not (tmp_path / "report.html").exists()


def test_a_file_that_cannot_be_read_is_named_and_stops_none_of_the_others(parts, report, tmp_path):
    (tmp_path / "last_sweep.json").write_text("{")
    assert parts(last_gspo_bench=PAGES["bare"]).headings[1:] == ["Before you rely on it", "The two paths"]
    assert re.search("Not on this page: [^<]*last_sweep.json is not JSON", report().read_text())
