"""The gallery: the README is what the published files say, and what is made of other files is right."""

import json
import re
from pathlib import Path

import pytest

from plots import gallery
from plots.cli import main
from plots.errors import PlotInputError
from tests.plots.cases import only, stored
from tests.plots.run_cases import record, write_run
from tests.plots.sweep_cases import micro_batches

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
MARKED = f"# Title\n\nbefore\n\n{gallery.BEGIN}\nthe older table\n{gallery.END}\n\nafter\n"


@pytest.fixture
def house(tmp_path):
    """A repository of a README and published files, by their names."""

    def make(**documents):
        folder = tmp_path / gallery.FOLDER
        folder.mkdir(parents=True)
        (tmp_path / gallery.README).write_text(MARKED)
        for name, document in documents.items():
            (folder / f"{name}.json").write_text(json.dumps(document))
        return tmp_path

    return make


def rows(root):
    text = (root / gallery.README).read_text()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line.startswith("|")]


def test_the_readme_is_current():
    text = (ROOT / gallery.README).read_text()
    made = gallery.tables(gallery.read_published(ROOT / gallery.FOLDER))
    assert gallery.with_tables(text, made) == text, "the table is not what results/published/ says: run `make gallery`"


def test_every_published_picture_is_there_and_none_is_without_its_file():
    published = gallery.read_published(ROOT / gallery.FOLDER)
    made = {drawn.target for drawn in gallery.pictures(published)}
    assert made == set((ROOT / gallery.FOLDER).rglob("*.png")), "run `make gallery`, and remove pictures of files that are gone"


def test_every_file_that_the_readmes_link_to_is_there():
    for readme in (ROOT / gallery.README, ROOT / gallery.FOLDER / "README.md"):
        links = re.findall(r"\]\((?!https?:)([^)#]+)\)", readme.read_text())
        assert [link for link in links if not (readme.parent / link).exists()] == []


def test_every_published_file_is_told_of_in_its_folders_readme():
    told = (ROOT / gallery.FOLDER / "README.md").read_text()
    assert [path.name for path in (ROOT / gallery.FOLDER).glob("*.json") if path.name not in told] == []


def test_a_result_is_one_row_with_what_its_file_says(house):
    document = only("native_1pass", "custom_2pass")
    document["comparisons"][0] |= {"saving_median_pct": 25.04, "ci_low_pct": -1.0, "ci_high_pct": 30.96, "pairs": 8}
    document["native_1pass"]["median_s"], document["custom_2pass"]["median_s"] = 0.75, 1.0
    document["summary"]["model"] = "/models/Qwen3-0.6B-random-weights"
    root = house(a=document)
    assert main(["gallery", str(root)]) == 0
    heading, _, row = rows(root)
    assert heading[:3] == ["model", "weights", "on"]
    assert row == [
        "Qwen3-0.6B",
        "random",
        "CPU only: AMD EPYC 7B13 (4 cores)",
        "cpu, 8 pairs",
        "0.750 s",
        "1.000 s",
        "25.0 % (−1.0 to 31.0): no difference shown",
        "[JSON](results/published/a.json), [bars](results/published/a.png)",
    ]


def test_each_kind_has_a_table_and_every_file_its_pictures(house, capsys):
    swept = micro_batches()
    swept["best"]["not_told_apart"] = ["micro_batch 8", "tokens-8192"]
    root = house(a=stored("published"), b=swept, other={"kind": "gspo-bench-verify"})
    run = write_run(
        root / gallery.FOLDER / "learned", (record(), [{"step": 0, "env/all/correct": 0.02}, {"step": 1, "env/all/correct": 0.6}])
    )
    assert main(["gallery", str(root)]) == 0
    folder = root / gallery.FOLDER
    made = [folder / "a.png", folder / "b.png", run / "curve_gsm8k_gspo.png"]
    assert capsys.readouterr().out == "".join(f"{path}\n" for path in [*made, root / gallery.README])
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in made)
    cells = [row for row in rows(root) if row[0] != "---"]
    assert [row[0] for row in cells] == [
        "model",
        "Qwen3-4B-Instruct-2507",
        "sweep: model",
        "Qwen3-0.6B",
        "learning run: model",
        "Qwen3-0.6B",
    ]
    assert cells[1][4:7] == ["12.92 s (mean)", "16.77 s (mean)", "23.0 % (of means)"]
    assert cells[3][3:8] == ["8, 2 failed", "micro-batch 16", "0.500 s", "16.0 times as fast", "micro\\_batch 8, tokens-8192"]
    assert cells[5][3:8] == ["GSM8K", "fused GSPO, clip 0.9997 to 1.0004", "2", "2.0 % to 60.0 %", ""]
    assert "results/published/learned/run.json" in cells[5][8]


def test_what_stands_outside_of_the_marks_stays_and_a_second_time_changes_nothing(house):
    root = house(a=stored("published"))
    assert main(["gallery", str(root)]) == 0
    text = (root / gallery.README).read_text()
    assert text.startswith("# Title\n\nbefore\n\n") and text.endswith("\n\nafter\n") and "the older table" not in text
    assert main(["gallery", str(root)]) == 0
    assert (root / gallery.README).read_text() == text


def test_a_files_words_do_not_break_the_table(house):
    document = stored("published")
    document["summary"]["model"] = "a|b](x) <img src=x> `c`\n| d"
    root = house(a=document)
    assert main(["gallery", str(root)]) == 0
    assert r"a\|b\](x) \<img src=x\> \`c\` \| d" in (root / gallery.README).read_text()


@pytest.mark.parametrize("text", ["none", gallery.BEGIN, f"{gallery.END}\n{gallery.BEGIN}", MARKED + gallery.BEGIN])
def test_a_readme_without_its_two_marks_is_one_line_and_stays(house, capsys, text):
    root = house(a=stored("published"))
    (root / gallery.README).write_text(text)
    assert main(["gallery", str(root)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert (root / gallery.README).read_text() == text
    assert not list(root.rglob("*.png"))


def test_a_folder_without_published_results_is_one_line(tmp_path, capsys):
    assert main(["gallery", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith(f"plots: no published result in {tmp_path / gallery.FOLDER}")


def test_a_broken_published_file_stops_before_anything_is_written(house):
    root = house(a=stored("published"), b={"kind": "gspo-bench-sweep", "rows": 3})
    with pytest.raises(PlotInputError, match="rows"):
        gallery.write_gallery(root)
    assert not list(root.rglob("*.png")) and (root / gallery.README).read_text() == MARKED
