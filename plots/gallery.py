"""The published results as a table of the README and their pictures: made from the files, so that neither can differ from them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plots import curve_words, scaling_file, scaling_words, sweep_words, words
from plots.checked import read_object
from plots.errors import PlotInputError
from plots.learning_run import RECORD, LearningRun, read_run
from plots.measures import measures
from plots.numbers import brief, clipped, duration, percent, plural
from plots.pictures import PICTURES
from plots.render import write_whole
from plots.results import Comparison, Result, read_result
from plots.scaling_file import Scaling, read_scaling
from plots.sweep_file import Sweep, read_sweep
from plots.weights import WEIGHTS

BEGIN, END = "<!-- gallery: `make gallery` writes what follows -->", "<!-- end of the gallery -->"
FOLDER, README = Path("results/published"), Path("README.md")
RANDOM_SUFFIX = "-random-weights"  # of the folders that docker/server/make_random_qwen3.py makes; the weights have a column

SWEEP_HEADINGS = (
    *("sweep: model", "weights", "on", "settings", "best", "its fused step, median", "against the first"),
    *("not told apart from the best (step times overlap)", "files"),
)
RUN_HEADINGS = (
    *("learning run: model", "weights", "on", "task", "path, clip of the ratios", "steps", curve_words.ENDS_HEADING),
    *("held out, first test to last", "files"),
)


@dataclass(frozen=True)
class Drawn:
    """One picture of a published file: which of plots.pictures, from what, to where."""

    picture: str
    source: Path
    target: Path


@dataclass(frozen=True)
class Published:
    """What the folder has, each file's content by its path."""

    folder: Path
    results: dict[Path, Result]
    sweeps: dict[Path, Sweep]
    scalings: dict[Path, Scaling]
    runs: dict[Path, LearningRun]


def write_gallery(root: Path) -> list[Path]:
    """Draw every published file below the repository's root and write the README's table; return what was written.

    Raises PlotInputError for a file that cannot be read, or a README without the two marks; PlotOutputError.
    """
    published = read_published(root / FOLDER)
    readme = root / README
    try:
        text = readme.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise PlotInputError(f"{readme} cannot be read ({error}); run it in the repository's root, or name that") from None
    changed = with_tables(text, tables(published))
    made = pictures(published)
    for drawn in made:
        PICTURES[drawn.picture].make(drawn.target, drawn.source)
    write_whole(readme, changed.encode())
    return [*(drawn.target for drawn in made), readme]


def read_published(folder: Path) -> Published:
    """Read every result, sweep and learning run of the folder, by name; files of other kinds are left alone; raises PlotInputError."""
    kinds = {path: read_object(path).text("kind") for path in sorted(folder.glob("*.json"))}
    if not kinds:
        raise PlotInputError(f"no published result in {folder}; run it in the repository's root, or name that")
    return Published(
        folder=folder,
        results={path: read_result(path) for path, kind in kinds.items() if kind in (None, "gspo-bench")},
        sweeps={path: read_sweep(path) for path, kind in kinds.items() if kind == "gspo-bench-sweep"},
        scalings={path: read_scaling(path) for path, kind in kinds.items() if kind == scaling_file.KIND},
        runs={path.parent: read_run(path.parent) for path in sorted(folder.glob(f"*/{RECORD}"))},
    )


def pictures(published: Published) -> list[Drawn]:
    """Return the pictures of the published files: beside each, by its name."""
    made = []
    for path, result in published.results.items():
        made.append(Drawn("bars", path, path.with_suffix(".png")))
        if any(not breakdown.by_client for breakdown in result.breakdowns):
            made.append(Drawn("phases", path, path.with_name(f"{path.stem}-phases.png")))
    made += [Drawn("sweep", path, path.with_suffix(".png")) for path in published.sweeps]
    made += [Drawn("scale", path, path.with_suffix(".png")) for path in published.scalings]
    return made + [Drawn("curve", path, path / PICTURES["curve"].target) for path in published.runs]


def tables(published: Published) -> str:
    """Return a Markdown table for each kind of file that there is."""
    every = pictures(published)

    def links(source: Path, named: Path) -> str:
        return _links(named, [drawn for drawn in every if drawn.source == source], published.folder)

    made = [
        _table(
            ("model", "weights", "on", "preset, steps", "fused, median", "two passes, median", "saving (95 % interval)", "files"),
            [[*_result_cells(result), links(path, path)] for path, result in published.results.items()],
        ),
        _table(
            SWEEP_HEADINGS,
            [[*_sweep_cells(sweep), links(path, path)] for path, sweep in published.sweeps.items()],
        ),
        _table(
            ("scaling: model", "weights", "on", "fused step, median; tokens a second against the fewest", "files"),
            [[*_scaling_cells(scaling), links(path, path)] for path, scaling in published.scalings.items()],
        ),
        _table(
            RUN_HEADINGS,
            [[*_run_cells(run), links(path, path / RECORD)] for path, run in published.runs.items()],
        ),
    ]
    return "\n".join(table for table in made if table)


def with_tables(readme: str, made: str) -> str:
    """Return the README with what stands between its two marks replaced; raises PlotInputError where they are not there once each."""
    if readme.count(BEGIN) != 1 or readme.count(END) != 1 or readme.index(BEGIN) > readme.index(END):
        raise PlotInputError(f"{README} does not have the lines {BEGIN} and {END} once each, in this order; put them where the table goes")
    before, rest = readme.split(BEGIN)
    return f"{before}{BEGIN}\n\n{made}\n{END}{rest.split(END)[1]}"


def _result_cells(result: Result) -> list[str]:
    setting = result.setting
    headline = words.headline(result)
    pairs = f", {plural(headline.pairs, 'pair')}" if headline and headline.pairs else ""
    return [
        *_model_cells(setting.model, setting.weights),
        _safe(words.machine(setting)),
        _safe(words.preset_name(setting) or "no preset") + pairs,
        _step(result, "native_1pass"),
        _step(result, "custom_2pass"),
        _saving(result, headline),
    ]


def _sweep_cells(sweep: Sweep) -> list[str]:
    failed = sum(row.status != "ok" for row in sweep.rows)
    best = sweep.best
    return [
        *_model_cells(sweep.model, sweep.weights),
        _safe(words.machine(sweep.machine)),
        f"{len(sweep.rows)}" + (f", {failed} failed" if failed else ""),
        _safe(best.label) if best else "none",
        duration(best.native_s) if best and best.native_s else "",
        _against_first(sweep),
        _safe(", ".join(best.not_told_apart) or "none") if best else "",
    ]


def _against_first(sweep: Sweep) -> str:
    if sweep_words.first_is_near(sweep):
        return "not told apart"
    return f"{brief(sweep.best.speedup)} times as fast" if sweep.best and sweep.best.speedup else ""


def _scaling_cells(scaling: Scaling) -> list[str]:
    told = []
    for row in scaling.rows:
        pace = scaling.pace(row)
        batch = ", batch grown with them" if row.batch == "grown" else ""
        told.append(
            f"{scaling_words.counted(scaling, row.gpus)}{batch}: "
            + (f"{duration(row.native_s)}, {brief(pace)} times" if row.native_s and pace else row.status)
        )
    return [*_model_cells(scaling.model, scaling.weights), _safe(words.machine(scaling.machine)), _safe("; ".join(told))]


def _run_cells(run: LearningRun) -> list[str]:
    first, last = curve_words.ends_of(run)
    held = [point.held_out for point in run.points if point.held_out is not None]
    return [
        *_model_cells(run.model, run.weights),
        _safe(words.machine(run.machine)),
        _safe(curve_words.task(run)) if run.task else "",
        _safe(
            ", ".join(
                part
                for part in (words.IN_A_SENTENCE.get(run.path or "", run.path), curve_words.clip(run), curve_words.resumed(run))
                if part
            )
        ),
        f"{run.taken:,}",
        f"{percent(100 * first)} to {percent(100 * last)}",
        _held_out(held),
    ]


def _held_out(shares: Sequence[float]) -> str:
    if len(shares) < 2:
        return f"{percent(100 * shares[0])} at the start" if shares else ""
    return f"{percent(100 * shares[0])} to {percent(100 * shares[-1])}"


def _model_cells(model: str | None, weights: str | None) -> list[str]:
    name = (model or "not told").rstrip("/").rsplit("/", 1)[-1]
    name = name.removesuffix(RANDOM_SUFFIX) if weights == "random" else name
    return [_safe(clipped(name, 40)), _safe(WEIGHTS.get(weights, weights).removesuffix(" weights") if weights else "not told")]


def _step(result: Result, path: str) -> str:
    """Return the path's step as its bar has it."""
    drawn = measures(result)
    height = next((bar.height for bar in drawn.seconds if bar.path == path), None)
    return "none" if height is None else duration(height) + (" (mean)" if drawn.centre == "mean" else "")


def _saving(result: Result, headline: Comparison | None) -> str:
    if result.invalid:
        return "not valid"
    if headline is None:
        return "none" if result.step_time_reduction_pct is None else f"{percent(result.step_time_reduction_pct)} (of means)"
    if headline.interval is None:
        return percent(headline.saving_pct)
    low, high = (percent(end).removesuffix(" %") for end in headline.interval)
    shown = "" if headline.interval[0] > 0 or headline.interval[1] < 0 else ": no difference shown"
    return f"{percent(headline.saving_pct)} ({low} to {high}){shown}"


def _links(source: Path, drawn: Sequence[Drawn], folder: Path) -> str:
    named = [("JSON", source), *((made.picture, made.target) for made in drawn)]
    return ", ".join(f"[{name}]({(FOLDER / path.relative_to(folder)).as_posix()})" for name, path in named)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _safe(text: str) -> str:
    """Return a text of a file as it may stand in a Markdown table's cell."""
    return re.sub(r"([\\|<>\[\]`*_~&])", r"\\\1", text) if text else ""
