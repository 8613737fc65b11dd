"""Learning curves: what is read of a run as it is, killed or foreign; what is drawn against the metrics."""

import json

import pytest

from plots import curve_words
from plots.curve import draw
from plots.errors import NothingToDraw, PlotInputError
from plots.learning_run import read_run, read_runs
from plots.render import figure_of
from plots.size import README, SLIDE
from plots.smoothing import smoothed, window
from plots.style import COLOURS
from tests.plots.pixels import assert_tidy
from tests.plots.pixels import written as texts
from tests.plots.run_cases import RUN_CASES, climbing, paths, published_shape, record, write_run

pytestmark = pytest.mark.slow


@pytest.fixture
def runs(tmp_path):
    """Write runs, their last line torn, and read them back."""

    def make(made):
        return read_runs(*(write_run(tmp_path / f"run-{number}", run, torn=True) for number, run in enumerate(made)))

    return make


def curves(figure, name):
    return [line for axes in figure.axes for line in axes.lines if line.get_gid() == name]


METRICS = [
    {"step": 0, "env/all/correct": 0.25, "time/total": 10.0, "time/elapsed": 10.0, "test/env/all/correct": 0.2, "test/env/all/count": 50},
    {"step": 1, "env/all/correct": None, "time/total": 10.0, "time/elapsed": 20.0},
    {"step": 2, "env/all/correct": 0.75, "time/total": 10.0, "time/elapsed": 30.0, "test/env/all/correct": 0.6, "test/env/all/count": 50},
]


def test_a_run_is_read_as_its_record_and_metrics_say(runs):
    (run,) = runs([(record(), METRICS)])
    assert [(point.step, point.elapsed_s, point.correct, point.held_out) for point in run.points] == [
        (0, 10.0, 0.25, 0.2),
        (1, 20.0, None, None),
        (2, 30.0, 0.75, 0.6),
    ]
    assert (run.model, run.task, run.path, run.loss, run.machine.gpus) == (
        "Qwen/Qwen3-0.6B",
        "gsm8k",
        "native_1pass",
        "gspo",
        ("NVIDIA L4",),
    )


def test_both_panels_show_the_metrics_and_the_held_out_points(runs):
    figure = figure_of(draw, runs([(record(), METRICS)]))
    by_step, by_time = curves(figure, "smoothed")
    assert (list(by_step.get_xdata()), list(by_step.get_ydata())) == ([0, 2], [0.25, 0.75])
    assert (list(by_time.get_xdata()), list(by_time.get_ydata())) == ([10, 30], [0.25, 0.75])
    held_by_step, _ = curves(figure, "held out")
    assert (list(held_by_step.get_xdata()), list(held_by_step.get_ydata())) == ([0, 2], [0.2, 0.6])
    assert "Held-out accuracy of 50 problems: 20.0 % at step 0, 60.0 % at step 2 (40.0 points up)." in texts(figure)


def test_the_published_shape_draws_by_step_alone(runs):
    figure = figure_of(draw, runs([published_shape()]))
    assert len(figure.axes) == 1
    assert any("metrics have no times" in text for text in texts(figure))


def test_a_torn_last_line_is_left_out_and_a_broken_one_before_it_is_named(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 0, "env/all/correct": 0.5}\n{"step": 1, "env')
    assert [point.step for point in read_run(path).points] == [0]
    path.write_text('{"step": 0, "env/all\n{"step": 1, "env/all/correct": 0.5}\n')
    with pytest.raises(PlotInputError, match=r"metrics\.jsonl: line 1 is not JSON"):
        read_run(path)


def test_a_last_line_that_only_lacks_its_line_end_counts(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 0, "env/all/correct": 0.5}\n{"step": 1, "env/all/correct": 0.75}')
    assert [point.correct for point in read_run(path).points] == [0.5, 0.75]


def test_a_step_told_in_two_lines_is_one_and_times_add_up_without_elapsed(tmp_path):
    lines = [
        {"step": 1, "env/all/correct": 0.5, "time/total": 3.0},
        {"step": 0, "env/all/correct": 0.25, "time/total": 2.0},
        {"step": 1, "test/env/all/correct": 0.4},
    ]
    path = tmp_path / "metrics.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    points = read_run(path).points
    assert [(point.step, point.correct, point.held_out) for point in points] == [(0, 0.25, None), (1, 0.5, 0.4)]
    assert [point.elapsed_s for point in points] == [5.0, 3.0]


def test_the_test_after_the_last_step_is_a_held_out_point_of_its_own(tmp_path):
    final = {"step": 2, "test/env/all/correct": 0.75, "test/env/all/count": 64, "time/elapsed": 61.5}
    run = read_run(write_run(tmp_path / "run", (record(final=final), climbing(2, 0.1, 0.6))))
    assert [(point.step, point.held_out, point.held_out_count) for point in run.points] == [(0, None, None), (1, None, None), (2, 0.75, 64)]
    assert (run.points[2].correct, run.points[2].elapsed_s) == (None, 61.5)
    assert run.taken == 2 and curve_words.title([run]).endswith(" in 2 steps")


@pytest.mark.parametrize("line", [{"step": 0, "env/all/correct": 1.5}, {"step": -1}, {"step": 0, "time/elapsed": "x"}])
def test_a_wrong_value_is_one_line_that_names_line_and_key(tmp_path, line):
    path = tmp_path / "metrics.jsonl"
    path.write_text(json.dumps({"step": 0, "env/all/correct": 0.5}) + "\n" + json.dumps(line) + "\n")
    with pytest.raises(PlotInputError) as error:
        read_run(path)
    assert "line 2: " in str(error.value) and "\n" not in str(error.value)


def test_a_run_without_a_step_has_nothing_to_draw(tmp_path):
    with pytest.raises(NothingToDraw, match="no step with env/all/correct yet"):
        read_run(write_run(tmp_path / "run", (record(status="running"), []), torn=True))


@pytest.mark.parametrize("run", ["/etc", "../elsewhere", None, 3])
def test_the_newest_run_lies_below_the_results(tmp_path, run):
    pointer = tmp_path / "last_learn.json"
    pointer.write_text(json.dumps({"schema": 1, "kind": "gspo-bench-learn", "run": run}))
    with pytest.raises(PlotInputError, match=r"run is .*, expected"):
        read_runs(pointer)


def test_a_mean_over_three_worked_out_by_hand():
    # Near the ends over as many on both sides as there are; the very first and last take their neighbour in.
    assert smoothed([0.0, 3.0, 6.0, 0.0], 3) == pytest.approx([1.5, 3.0, 3.0, 3.0])
    assert smoothed([1.0, 2.0], 1) == [1.0, 2.0]
    assert smoothed([0.5], 3) == [0.5]


def test_a_run_of_few_steps_is_not_smoothed_and_a_long_one_over_a_tenth(runs):
    few, forty, thousand = runs([(record(), climbing(steps, 0.1, 0.5)) for steps in (7, 40, 1000)])
    assert (window(few), window(forty), window(thousand)) == (1, 5, 101)


def test_paths_keep_their_colours_and_runs_are_named_by_what_differs(runs):
    figure = figure_of(draw, runs(paths(2)))
    colours = [line.get_color() for line in curves(figure, "smoothed")]
    assert set(colours) == {COLOURS["native_1pass"], COLOURS["custom_2pass"]}
    written = texts(figure)
    assert {"fused GSPO, seed 0", "GSPO by two passes, seed 1"} <= set(written)
    assert "4 learning runs on GSM8K" in written


def test_the_clip_is_told_of_one_run_and_names_runs_that_differ_in_it(runs):
    wide = record(loss={"name": "gspo", "clip_low_threshold": 0.8, "clip_high_threshold": 1.2})
    paper, published, untold = runs([(made, climbing(9, 0.1, 0.5)) for made in (record(), wide, record(loss={"name": "gspo"}))])
    assert "clip 0.9997 to 1.0004" in " ".join(curve_words.where([paper]))
    assert curve_words.names([paper, published]) == ["clip 0.9997 to 1.0004", "clip 0.8 to 1.2"]
    assert "clip" not in " ".join([*curve_words.where([paper, published]), *curve_words.where([untold])])


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([], None),
        ([10], "resumed at step 10"),
        ([5, 15], "resumed at steps 5, 15"),
        ([1, 2, 3, 4, 1_005], "resumed at steps 1, 2, 3 and 2 more"),
    ],
)
def test_a_run_of_several_pieces_says_where_each_began(runs, steps, said):
    pieces = record(resumed=[{"at": "2026-11-30T10:47:27Z", "next_step": step} for step in steps])
    run, whole = runs([(pieces, climbing(9, 0.1, 0.5)), (record(), climbing(9, 0.1, 0.5))])
    assert curve_words.resumed(run) == said
    assert (said or "resumed.") in " ".join(curve_words.small_print([run], timed=True))
    assert "resumed at" not in " ".join(curve_words.small_print([run, whole], timed=True))
    assert not said or said in curve_words.names([run, whole])[0]


def test_the_title_is_from_the_runs_own_record(runs):
    made = [(record(task="arithmetic", model="/models/small"), [{"step": step, "env/all/correct": 0.5} for step in range(3)])]
    assert "small, arithmetic problems, fused GSPO: 50.0 % to 50.0 % in 3 steps" in texts(figure_of(draw, runs(made)))


def test_the_title_s_numbers_are_said_to_be_means_of_two_steps_where_they_are(runs):
    shares = [0.25, 0.5, 0.5, 0.5, 0.5, 0.5, 0.75, 1.0]
    said = "The accuracy above is the thick line's ends: the means of the first two steps and of the last two."
    steps = [{"step": step, "env/all/correct": share} for step, share in enumerate(shares)]
    eight, seven = runs([(record(), steps), (record(), steps[:7])])
    assert curve_words.title([eight]).endswith(": 37.5 % to 87.5 % in 8 steps")
    assert said in curve_words.small_print([eight], timed=False)[0]
    assert (
        "thick: the mean over 3 steps around it, over fewer towards the ends and over two at each."
        in curve_words.small_print([eight], False)[0]
    )
    assert curve_words.title([seven]).endswith(": 25.0 % to 75.0 % in 7 steps")
    assert said not in curve_words.small_print([seven], timed=False)[0]


def test_a_run_that_did_not_finish_is_said_to(runs):
    figure = figure_of(draw, runs([(record(status="partial", reason="interrupted", steps=40), climbing(12, 0.1, 0.5))]))
    assert "PARTIAL RUN after 12 of 40 steps: interrupted" in texts(figure)


def test_time_of_work_has_one_name(runs):
    written = " ".join(texts(figure_of(draw, runs([(record(), climbing(12, 0.1, 0.5))]))))
    assert "Accuracy, by time of work" in written and "minutes of work" in written and "Time of work: without what" in written
    assert "wall-clock" not in written


def test_one_step_and_one_group_are_not_plural(runs):
    steps = climbing(1, 0.1, 0.5)
    finished = (record(groups=1, status="partial", steps=1), steps)
    one, two, killed = runs([finished, (record(groups=2), steps), (record(groups=2, status="running", steps=None), steps)])
    assert curve_words.names([one, two]) == ["1 group of 8", "2 groups of 8"]
    assert curve_words.partial([one]) == "PARTIAL RUN after 1 of 1 step"
    assert curve_words.partial([killed]) == "1 step, still running or killed"


@pytest.mark.parametrize("size", [README, SLIDE], ids=["readme", "slide"])
@pytest.mark.parametrize("case", RUN_CASES)
def test_no_two_texts_overlap_and_none_leaves_the_picture(runs, case, size):
    assert_tidy(figure_of(draw, runs(RUN_CASES[case]), size))


@pytest.mark.parametrize(
    ("first_s", "begins", "said"), [(230.0, 230.0, "seconds of work, shown from the end of the first step"), (2.0, 0.0, "seconds of work")]
)
def test_the_time_axis_begins_where_a_long_wait_for_the_first_step_ended(runs, first_s, begins, said):
    steps = [{"step": step, "env/all/correct": 0.5, "time/elapsed": first_s + 2.0 * step} for step in range(7)]
    figure = figure_of(draw, runs([(record(), steps)]))
    (axes,) = [axes for axes in figure.axes if axes.get_xlabel() == said]
    low, high = axes.get_xlim()
    assert low == pytest.approx(begins, abs=0.03 * (high - low))
