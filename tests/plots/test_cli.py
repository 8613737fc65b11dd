"""The command line, in this process where its code is enough and in its own where the surroundings matter."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from plots import render
from plots.cli import main
from plots.errors import PlotOutputError

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


def test_a_results_folder_is_drawn_and_the_picture_is_named(schema1, written, capsys):
    folder = written(schema1).parent
    assert main(["--results", str(folder)]) == 0
    picture = folder / "bench_gspo_bars.png"
    assert capsys.readouterr() == (f"{picture}\n{folder / 'report.html'}\n", "")
    assert picture.read_bytes().startswith(PNG)
    assert (folder / "report.html").read_text().startswith("<!doctype html>")
    assert sorted(path.name for path in folder.iterdir()) == ["bench_gspo_bars.png", "last_gspo_bench.json", "report.html"]


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
    [["--out", "x.png"], ["a.json", "--results", "b"], ["a.json", "--out", "a.svg"], ["--nothing"], ["a.json", "b.json"]],
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
    assert done.stdout == f"{folder / 'bench_gspo_bars.png'}\n{folder / 'report.html'}\n"


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
