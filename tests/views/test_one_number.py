"""One thing has one number in every view: what `bench show` prints of a file is what its picture, the page and the README's table say."""

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Text

from bench import numbers as printed_numbers
from bench.show_command import show_command
from plots import bars, curve, gallery, phases, scaling, sweep
from plots import numbers as drawn_numbers
from plots.learning_run import read_run
from plots.measures import measures
from plots.render import figure_of
from plots.report import sources
from plots.report.build import page_of
from plots.report.page import html_of
from plots.results import read_result
from plots.scaling_file import read_scaling
from plots.sweep_file import read_sweep

TESTS = Path(__file__).parents[1]
FOLDER = TESTS.parent / "results" / "published"
STORED = [TESTS / "data" / name for name in ("published_gspo_bench.json", "schema1_gspo_bench.json")]
KINDS = {path: json.loads(path.read_text()).get("kind", "gspo-bench") for path in [*sorted(FOLDER.glob("*.json")), *STORED]}
RUNS = sorted(path.parent for path in FOLDER.glob("*/run.json"))


def files(kind: str) -> list[Any]:
    return [pytest.param(path, id=path.stem) for path, found in KINDS.items() if found == kind]


def shown(path: Path) -> str:
    """What `bench show` prints, on as few lines as it has sentences."""
    result = CliRunner().invoke(show_command, [str(path)])
    assert result.exit_code == 0, result.output
    return result.output


def table(output: str) -> dict[str, list[str]]:
    """The printed table's rows, each by its first cell."""
    heading, rows = ([_cells(line) for line in output.splitlines() if line.startswith(edge)] for edge in ("┃", "│"))
    joined = [" ".join(filter(None, cells)) for cells in zip(*heading, strict=True)]
    return {row[0]: row for row in (joined, *rows)}


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split("[│┃]", line)[1:-1]]


def drawn(draw: Any, made: Any) -> str:
    """All that a picture says, with the console's minus sign."""
    figure = figure_of(draw, made)
    return plain(" ".join(text.get_text() for text in figure.findobj(Text) if text.get_visible()))


def paged(path: Path) -> str:
    return plain(html.unescape(re.sub("<[^>]+>", " ", html_of(page_of(sources.of_file(path))))))


def plain(text: str) -> str:
    return " ".join(text.replace("\N{MINUS SIGN}", "-").replace("\N{NO-BREAK SPACE}", " ").split())


def everywhere(number: str, *views: str) -> None:
    for view in views:
        assert re.search(rf"(?<![\d.,-]){re.escape(number)}(?![\d])", view), (number, view)


@given(st.floats(0, 1e12) | st.integers(0, 10**9) | st.integers(0, 4000).map(lambda count: count / 32))
def test_both_sides_write_a_number_the_same_way(value: float) -> None:
    for name in ("short", "brief", "percent", "share", "duration", "memory"):
        printed, pictured = (getattr(side, name)(value) for side in (printed_numbers, drawn_numbers))
        assert printed == pictured
    assert printed_numbers.percent(-value) == plain(drawn_numbers.percent(-value))


@pytest.mark.parametrize("path", files("gspo-bench"))
def test_a_result_s_steps_and_rates_are_the_bars_and_the_page_s(path: Path) -> None:
    result = read_result(path)
    made, rows, picture, page = measures(result), table(shown(path)), drawn(bars.draw, result), paged(path)
    centre = made.centre
    # The console has both centres; its rates are of the one that the bars show, and say so.
    assert rows["path"][2:6] == ["median", "mean", "stdev", f"tokens/s, {centre}"]
    assert f"Seconds a step, {centre}" in picture and f"Target tokens a second, {centre}" in picture
    assert f"tokens/s, {centre}" in page
    for bar in made.seconds:
        everywhere(rows[bar.path][2 if centre == "median" else 3], picture, page)
    for bar in made.tokens:
        everywhere(rows[bar.path][5], picture, page)
    cells = gallery.tables(gallery.Published(path.parent, {path: result}, {}, {}, {}))
    for name in ("native_1pass", "custom_2pass"):
        number = rows[name][2 if centre == "median" else 3]
        everywhere(number + (" (mean)" if centre == "mean" else ""), cells)


@pytest.mark.parametrize("path", files("gspo-bench"))
def test_a_result_s_saving_and_its_interval_are_the_picture_s_the_page_s_and_the_table_s(path: Path) -> None:
    result, output = read_result(path), shown(path).partition("Control, ")[0]
    cells = plain(gallery.tables(gallery.Published(path.parent, {path: result}, {}, {}, {})))
    saving = re.search(r"saves (\S+ %)|costs (\S+ %)|median (\S+ %)", output)
    assert saving
    views = (drawn(bars.draw, result), paged(path), cells)
    everywhere(next(filter(None, saving.groups())), *views)
    if interval := re.search(r"95 % interval (\S+) to (\S+) %", output):
        low, high = interval.groups()
        everywhere(f"{low} % to {high} %", *views[:2])
        assert f"({low} to {high})" in cells


@pytest.mark.parametrize("path", files("gspo-bench"))
def test_a_result_s_engine_share_floor_and_use_of_the_device_are_the_phases_picture_s(path: Path) -> None:
    result, output = read_result(path), shown(path)
    if not any(not made.by_client for made in result.breakdowns):
        assert "Where the fused step goes" not in output
        return
    picture, page = drawn(phases.draw, result), paged(path)
    (engine,) = re.findall(r"Where the fused step goes: (\S+ %) the server's engine", output)
    for view in (picture, page):
        assert f"{engine} of the fused step is the server's engine at work" in view
    if arithmetic := re.search(r"arithmetic alone would take (\S+ m?s) \((.+ %) of the device's peak is used\)", output):
        everywhere(arithmetic[1], picture)
        for view in (picture, page):
            assert f"{arithmetic[2]} of the device's peak is used" in view
    (bound,) = re.findall(r"If arithmetic were all, the saving would be (\S+ %)", output)
    for view in (picture, page):
        assert re.search(rf"If arithmetic were all,( with(out)? gradient checkpointing,)? the saving would be {bound}", view)


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({}, "stock"),
        ({"preset_changed": []}, "stock"),
        ({"preset_changed": ["train_micro_batch_size"]}, "stock with train_micro_batch_size changed"),
        ({"preset_changed": ["s" * 41]}, "stock with 1 setting changed"),
        ({"preset_changed": ["train_micro_batch_size", "gradient_checkpointing"]}, "stock with 2 settings changed"),
    ],
)
def test_a_preset_with_settings_over_it_is_called_so_in_every_view(tmp_path: Path, changed: dict[str, Any], name: str) -> None:
    document = json.loads((FOLDER / "cpu-small-qwen3.json").read_text())
    document["environment"]["server"] |= {"preset": "stock", **changed}
    path = tmp_path / "last_gspo_bench.json"
    path.write_text(json.dumps(document))
    result = read_result(path)
    assert f"; preset {name};" in shown(path)
    assert f"JAX backend, preset {name} " in drawn(bars.draw, result)
    assert f"JAX backend, preset {name} " in paged(path)
    assert f"| {name}, 16 pairs |" in gallery.tables(gallery.Published(path.parent, {path: result}, {}, {}, {})).replace("\\_", "_")


@pytest.mark.parametrize("path", files("gspo-bench-sweep"))
def test_a_sweep_s_rows_and_its_best_are_the_picture_s_the_page_s_and_the_table_s(path: Path) -> None:
    made, output = read_sweep(path), shown(path)
    rows, picture, page = table(output), drawn(sweep.draw, made), paged(path)
    cells = gallery.tables(gallery.Published(path.parent, {}, {path: made}, {}, {}))
    for row in made.rows:
        fused, two_pass, saving, _, peak = rows[row.label][1:6]
        for number in filter(None, (fused, two_pass, peak)):
            everywhere(number, picture, page)
        if saving:
            everywhere(saving, page)
    told = r"Best: (\S+), (\S+ s) a fused step, (\S+) times as fast as \S+\. Not told apart from it \(step times overlap\): (.*)\."
    ((best, step, speedup, near),) = re.findall(told, output)
    for view in (picture, page):
        assert f"{step} a fused step at best" in view and f"{best}: {speedup} times as fast as" in view
        assert f"Not told apart from it (step times overlap): {near}." in view
    assert f"| {best} | {step} | {speedup} times as fast | {near} |" in cells


def test_a_sweep_whose_best_is_not_told_apart_from_its_first_claims_no_gain_in_any_view(tmp_path: Path) -> None:
    document = json.loads((FOLDER / "cpu-sweep.json").read_text())
    document["best"]["not_told_apart"] = ["stock-all-at-once", "micro-batch-4"]
    path = tmp_path / "last_sweep.json"
    path.write_text(json.dumps(document))
    made, output = read_sweep(path), shown(path)
    views = (" ".join(output.split()), drawn(sweep.draw, made), paged(path))
    for view in views:
        assert "Even the fastest setting, micro-batch-8, is not told apart from stock-all-at-once by 4 steps of each" in view
        assert "Not told apart from it (step times overlap): stock-all-at-once, micro-batch-4." in view
        assert "times as fast" not in view
        everywhere("0.497 s a fused step", view)
    cells = gallery.tables(gallery.Published(path.parent, {}, {path: made}, {}, {}))
    assert "| micro-batch-8 | 0.497 s | not told apart | stock-all-at-once, micro-batch-4 |" in cells


@pytest.mark.parametrize("path", files("gspo-bench-scale"))
def test_a_scaling_run_s_numbers_are_the_picture_s_the_page_s_and_the_table_s(path: Path) -> None:
    made, rows = read_scaling(path), table(shown(path))
    picture, page = drawn(scaling.draw, made), paged(path)
    cells = gallery.tables(gallery.Published(path.parent, {}, {}, {path: made}, {}))
    for row in made.rows:
        fused, two_pass, saving, _, efficiency = rows[str(row.gpus)][3:8]
        for number in (fused, two_pass, saving):
            everywhere(number, picture, page)
        everywhere(efficiency, page, *([] if row is made.reference else [picture]))
        everywhere(fused, cells)
        pace = drawn_numbers.brief(made.pace(row) or 0.0)
        everywhere(f"{pace} \N{MULTIPLICATION SIGN}", picture, page)
        assert f"{pace} times" in cells


def test_a_scaling_run_without_a_gpu_speaks_of_devices_in_every_view(tmp_path: Path) -> None:
    document = json.loads((FOLDER / "h200-x2-qwen3-0.6b-scale.json").read_text())
    document |= {"gpu": "cpu", "backend": "jax", "status": "complete", "reason": None}
    document["environment"]["server"] = {"gpus": [], "cpu": "AMD EPYC", "cpu_count": 2}
    document["rows"].append(document["rows"][1] | {"batch": "grown", "status": "crashed", "reason": "it died"})
    path = tmp_path / "last_scale.json"
    path.write_text(json.dumps(document))
    made, output = read_scaling(path), " ".join(shown(path).split())
    picture, page = drawn(scaling.draw, made), paged(path)
    cells = gallery.tables(gallery.Published(path.parent, {}, {}, {path: made}, {}))
    assert "one batch on more devices" in output and "2 devices, grown batch: it died" in output
    assert "tokens a second and device of the fused step, against one device's" in output
    assert "2 devices" in picture and "More devices" in page and "1 device: 0.688 s" in cells
    for view in (output, picture, page.partition("settings and versions")[0], cells):
        words = view.replace("not how GPUs scale", "").replace("Without a GPU the devices", "")
        assert "GPU" not in words and "gpus" not in words


def check_run(folder: Path) -> None:
    run, output = read_run(folder), shown(folder)
    picture, page = drawn(curve.draw, [run]), paged(folder)
    cells = gallery.tables(gallery.Published(folder.parent, {}, {}, {}, {folder: run}))
    said = re.search(r"Accuracy in training: (\S+ %)(?: at the start, (\S+ %) at the end \((.*)\))?\.", output)
    assert said
    first, last, of = said.groups()
    assert f"{run.taken} of " in output
    if last is None:
        assert f"{first} after 1 step" in picture
        return
    for view in (picture, page):
        assert f"{first} to {last} in {run.taken} steps" in view
        assert of in view  # what the two are of
    assert f"| {first} to {last} |" in cells
    for number in re.findall(r"\S+ %", output.partition("Held out: ")[2]):
        everywhere(number, picture, page, cells)


@pytest.mark.parametrize("folder", RUNS, ids=lambda folder: folder.name)
def test_a_published_learning_run_s_ends_are_the_curve_s_the_page_s_and_the_table_s(folder: Path) -> None:
    check_run(folder)


@pytest.mark.parametrize("steps", [1, 2, 7, 8, 9, 40])
def test_a_learning_run_of_any_length_has_one_start_and_one_end(tmp_path: Path, steps: int) -> None:
    record = json.loads((RUNS[0] / "run.json").read_text()) | {"steps": steps, "final": {"step": steps, "test/env/all/correct": 0.8125}}
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps(record))
    # 31.25 % and its like: what a half is rounded to differs from rounding to rounding.
    rows = [{"step": step, "env/all/correct": 0.3125 + step / 64, "time/elapsed": step + 1.0} for step in range(steps)]
    rows[0]["test/env/all/correct"] = 0.0625
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    check_run(folder)
    assert "Held out: 6.3 % at the start, 81.3 % at the end." in shown(folder)
    # 0.3125 and 0.328125: their mean.
    assert f"Accuracy in training: {'32.0' if steps >= 8 else '31.3'} %" in shown(folder)


def test_repeated_runs_have_one_spread_and_one_count_of_those_left_out(tmp_path: Path) -> None:
    run = {"file": "a.json", "status": "complete", "ci_low_pct": 29.0, "ci_high_pct": 31.25}
    run |= {"native_1pass_s": 1.2345, "custom_2pass_s": 12.345}
    runs = [run | {"saving_median_pct": saving} for saving in (31.25, 34.0, None)]
    between = {"n": 2, "saving_mean_pct": 32.625, "saving_stdev_pct": 1.945, "saving_low_pct": 31.25, "saving_high_pct": 34.0}
    path = tmp_path / "last_repeat.json"
    path.write_text(
        json.dumps({"schema": 1, "kind": "gspo-bench-repeat", "runs": runs, "between": between, "within_ci_width_median_pct": 2.25})
    )
    output, page = shown(path), paged(path)
    for number in ("31.3 %", "29.0", "1.235 s", "12.35 s", "1.9 points", "32.6 %", "2.8 points", "2.3 points wide"):
        everywhere(number, output, page)
    for view in (output, page):
        assert "1 of 3 runs did not finish with a valid saving, and is not counted." in view
