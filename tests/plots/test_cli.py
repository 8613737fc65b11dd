"""The command line, in this process where its code is enough and in its own where the surroundings matter."""

import json
import os
import re
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import matplotlib.image
import pytest

from plots import render
from plots.cli import main
from plots.errors import PlotOutputError
from tests.plots.run_cases import climbing, published_shape, record, write_run
from tests.plots.scaling_cases import SCALING_CASES
from tests.plots.sweep_cases import micro_batches

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PNG = b"\x89PNG\r\n\x1a\n"


def run(*arguments, **environment):
    """Run `python -m plots` from the repository's root, with nothing in the environment but what is given."""
    return subprocess.run(
        [sys.executable, "-m", "plots", *map(str, arguments)],
        cwd=ROOT,
        check=False,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_results_folder_is_drawn_and_what_was_drawn_and_what_not_is_said(schema1, written, capsys):
    folder = written(schema1).parent
    assert main(["--results", str(folder)]) == 0
    bars, phases = folder / "bench_gspo_bars.png", folder / "bench_phases.png"
    left_out = "Not drawn: sweep.png (no last_sweep.json), scale.png (no last_scale.json), curve_gsm8k_gspo.png (no last_learn.json).\n"
    report = folder / "report.html"
    assert capsys.readouterr() == (f"{bars}\n{phases}\n{report}\n{left_out}", "")
    assert bars.read_bytes().startswith(PNG) and phases.read_bytes().startswith(PNG)
    assert report.read_text().startswith("<!doctype html>")
    assert sorted(path.name for path in folder.iterdir()) == [
        "bench_gspo_bars.png",
        "bench_phases.png",
        "last_gspo_bench.json",
        "report.html",
    ]


def test_a_folder_with_every_source_is_drawn_whole(schema1, written, capsys):
    folder = written(schema1).parent
    (folder / "last_sweep.json").write_text(json.dumps(micro_batches()))
    (folder / "last_scale.json").write_text(json.dumps(SCALING_CASES["two"]))
    run = write_run(folder / "runs" / "2026-learn", (record(), climbing(12, 0.1, 0.5)), torn=True)
    (folder / "last_learn.json").write_text(json.dumps({"schema": 1, "kind": "gspo-bench-learn", "run": f"runs/{run.name}"}))
    assert main(["--results", str(folder), "--size", "slide"]) == 0
    drawn = [folder / f"{name}-slide.png" for name in ("bench_gspo_bars", "bench_phases", "sweep", "scale", "curve_gsm8k_gspo")]
    assert capsys.readouterr() == ("".join(f"{path}\n" for path in [*drawn, folder / "report.html"]), "")
    for path in drawn:
        assert matplotlib.image.imread(path).shape[:2] == (1080, 1920)


def test_a_file_without_phases_is_one_picture_less_and_a_broken_one_stops_no_other(published, written, capsys):
    folder = written(published).parent
    (folder / "last_sweep.json").write_text("{")
    assert main(["--results", str(folder)]) == 2
    out, err = capsys.readouterr()
    assert out == (
        f"{folder / 'bench_gspo_bars.png'}\n{folder / 'report.html'}\n"
        "Not drawn: scale.png (no last_scale.json), curve_gsm8k_gspo.png (no last_learn.json), "
        "bench_phases.png (last_gspo_bench.json has no phases).\n"
    )
    assert err.startswith(f"plots: {folder / 'last_sweep.json'} is not JSON") and err.count("\n") == 1


def test_several_runs_share_one_picture_and_other_files_do_not(schema1, written, tmp_path, capsys):
    runs = [str(write_run(tmp_path / f"run{seed}", (record(seed=seed), climbing(12, 0.1, 0.5, seed)))) for seed in range(2)]
    out = tmp_path / "compared.png"
    assert main([*runs, "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    assert main(runs) == 2
    assert "--out" in capsys.readouterr().err
    assert main([str(written(schema1)), runs[0], "--out", str(out)]) == 2
    assert "only learning runs share a picture" in capsys.readouterr().err


def test_a_file_is_drawn_as_what_it_is(schema1, written, tmp_path, capsys):
    result = written(schema1)
    sweep = tmp_path / "s.json"
    sweep.write_text(json.dumps(micro_batches()))
    run = write_run(tmp_path / "run", published_shape())
    for arguments, target in (
        ([result, "--picture", "phases"], result.with_name("last_gspo_bench-phases.png")),
        ([sweep], tmp_path / "s.png"),
        ([run], run / "curve_gsm8k_gspo.png"),
        ([run / "metrics.jsonl", "--size", "slide"], run / "curve_gsm8k_gspo-slide.png"),
    ):
        assert main([str(argument) for argument in arguments]) == 0
        assert capsys.readouterr().out == f"{target}\n"
        assert target.read_bytes().startswith(PNG)


def test_phases_asked_for_by_name_of_a_file_without_them_are_one_line_and_code_2(published, written, capsys):
    path = written(published)
    assert main([str(path), "--picture", "phases"]) == 2
    assert capsys.readouterr().err == f"plots: {path.name} has no phases\n"


def test_one_file_is_drawn_where_out_says(published, written, tmp_path, capsys):
    out = tmp_path / "x.PNG"
    assert main([str(written(published)), "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    assert out.read_bytes().startswith(PNG)


def test_one_file_without_out_is_drawn_beside_it(published, written):
    path = written(published)
    assert main([str(path)]) == 0
    assert path.with_suffix(".png").read_bytes().startswith(PNG)


def test_an_older_picture_is_replaced_and_readable_by_others(published, written, tmp_path):
    out = tmp_path / "x.png"
    out.write_bytes(b"old")
    assert main([str(written(published)), "--out", str(out)]) == 0
    assert out.read_bytes().startswith(PNG)
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(out.stat().st_mode) == 0o666 & ~umask


def test_who_draws_the_same_picture_at_once_writes_it_whole(tmp_path):
    contents = [bytes([number]) * 1_000_000 for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda content: render.write_whole(tmp_path / "x.png", content), contents))
    assert (tmp_path / "x.png").read_bytes() in contents
    assert [path.name for path in tmp_path.iterdir()] == ["x.png"]


def test_a_folder_without_results_says_what_to_run_first(tmp_path, capsys):
    assert main(["--results", str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"plots: no result file in {tmp_path}; run `make bench` or `python -m bench run` first\n")


def test_a_missing_folder_says_what_to_run_first(tmp_path, capsys):
    assert main(["--results", str(tmp_path / "no")]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"plots: no results folder {tmp_path / 'no'}; run `make bench`")
    assert err.count("\n") == 1


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"schema": 9}', b'{"native_1pass": {"mean_s": NaN}}'])
def test_a_wrong_file_is_one_line_and_leaves_no_picture(written, content, capsys):
    path = written(content)
    for arguments in (["--results", str(path.parent)], [str(path)]):
        assert main(arguments) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith(f"plots: {path}") and err.count("\n") == 1
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--out", "x.png"],
        ["a.json", "--results", "b"],
        ["a.json", "--out", "a.svg"],
        ["--nothing"],
        ["a.json", "b.json"],
        ["--picture", "bars"],
    ],
)
def test_wrong_usage_is_two_lines_and_code_2(arguments, capsys):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("plots: ") and err.count("\n") == 2


def test_help_is_printed(capsys):
    assert main(["--help"]) == 0
    assert "Draw the pictures and the page of a results folder" in capsys.readouterr().out


@pytest.mark.parametrize("out", ["no/such/folder/x.png", "folder.png", "file.json/x.png"])
def test_a_place_that_cannot_be_written_is_one_line_and_code_1(published, written, tmp_path, capsys, out):
    path = written(published)
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "file.json").touch()
    before = sorted(tmp_path.rglob("*"))
    assert main([str(path), "--out", str(tmp_path / out)]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"plots: {tmp_path / out} cannot be written (") and err.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_a_full_disk_leaves_the_old_picture_and_no_remains(tmp_path, monkeypatch):
    out = tmp_path / "x.png"
    out.write_bytes(b"old")

    def fill(self, content):
        with self.open("wb") as file:
            file.write(content[:1])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fill)
    with pytest.raises(PlotOutputError, match="No space left on device"):
        render.write_whole(out, b"new")
    monkeypatch.undo()
    assert out.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("backend", ["", "TkAgg", "no-such-backend"])
def test_it_draws_without_a_display_and_without_a_home(schema1, written, backend):
    folder = written(schema1).parent
    done = run("--results", folder, MPLBACKEND=backend, HOME="/proc/no-home")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:3] == [str(folder / name) for name in ("bench_gspo_bars.png", "bench_phases.png", "report.html")]


def test_no_writable_folder_at_all_is_one_line(schema1, written):
    code = (
        "import sys, tempfile; from plots.cli import main\n"
        "def refuse(*a, **k): raise OSError('read-only')\n"
        "tempfile.mkdtemp = refuse; sys.exit(main(sys.argv[1:]))"
    )
    arguments = [sys.executable, "-c", code, "--results", str(written(schema1).parent)]
    done = subprocess.run(arguments, cwd=ROOT, check=False, env={"HOME": "/proc/no-home"}, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("plots: Matplotlib requires access to a writable cache directory")
    assert done.stderr.count("\n") == 1


def test_help_and_wrong_usage_do_not_load_matplotlib():
    code = "import sys; from plots.cli import main; main(['--help']); main(['--no']); sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, capture_output=True).returncode == 0


def test_plots_imports_nothing_of_bench(schema1, written):
    code = (
        "import json, sys; from plots.cli import main; main(sys.argv[1:]);"
        "sys.exit(any(name.split('.')[0] in ('bench', 'tinker', 'torch') for name in sys.modules))"
    )
    arguments = [sys.executable, "-c", code, "--results", str(written(schema1).parent)]
    assert subprocess.run(arguments, cwd=ROOT, check=False, capture_output=True).returncode == 0


def test_without_its_packages_it_says_what_to_install_or_use():
    ended = subprocess.run([sys.executable, "-S", "-m", "plots", "x.json"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert re.match(r"plots: the package \w+ is missing: pip install -r docker/requirements/client.txt", ended.stderr)
    assert ended.stderr.count("\n") == 2
