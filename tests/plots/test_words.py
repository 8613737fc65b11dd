"""What the picture says, sentence by sentence."""

import copy
import dataclasses

import pytest

from plots import words
from plots.measures import measures
from plots.results import read_result
from tests.plots.cases import CASES


@pytest.fixture
def told(written):
    """Read one of the cases, with some of the first comparison's values changed."""

    def tell(case, **comparison):
        document = copy.deepcopy(CASES[case])
        if comparison:
            document["comparisons"][0] |= comparison
        return read_result(written(document))

    return tell


def test_the_title_says_the_saving_of_the_first_comparison(told):
    result = told("two paths", saving_median_pct=40.25, ci_low_pct=38.0, ci_high_pct=41.96)
    assert words.title(result) == "Fused GSPO takes 40.3 % less time a step than two passes"
    assert words.verdict(result) == (
        "The median saving over 8 pairs is 40.3 % of the step, 95 % interval 38.0 % to 42.0 %; faster in 8 of 8."
    )


def test_an_interval_that_holds_zero_is_no_difference(told):
    for low, high in ((-2.1, 4.0), (0.0, 4.0), (-4.0, 0.0)):
        result = told("two paths", saving_median_pct=1.2, ci_low_pct=low, ci_high_pct=high)
        assert words.title(result) == "No difference shown between fused GSPO and two passes"


def test_a_fused_path_that_is_slower_is_said_to_be(told):
    result = told("slower")
    assert words.title(result) == "Fused GSPO takes 7.5 % more time a step than two passes"
    assert "95 % interval −9.0 % to −6.0 %; faster in 0 of 8." in words.verdict(result)


def test_another_level_of_the_interval_is_named(told):
    assert "90 % interval" in words.verdict(told("two paths", ci_level=0.9))


def test_one_pair_is_told_as_what_happened_without_an_interval(told):
    result = told("one step")
    assert words.title(result) == "Fused GSPO took 21.9 % less time a step than two passes"
    assert words.verdict(result) == ("The median saving over 1 pair is 21.9 % of the step, without an interval; faster in 1 of 1.")


def test_the_published_file_is_told_by_its_means(told):
    result = told("published")
    assert words.title(result) == "Fused GSPO took 23.0 % less time a step than two passes"
    assert words.verdict(result) == ("The mean step is 23.0 % shorter and throughput 29.8 % higher; the file gives no interval.")
    assert words.where(result) == [
        "Qwen/Qwen3-4B-Instruct-2507  ·  machine not in the file",
        "16 sequences  ·  7,569 target tokens a step",
    ]


def test_one_path_alone_claims_no_saving(told):
    assert words.title(told("one path")) == "How long a GSPO training step takes"
    assert words.verdict(told("one path")) is None


def test_what_ran_where_is_said_from_the_file(told):
    assert words.where(told("schema1")) == [
        "tiny-qwen3, random weights  ·  CPU only: AMD EPYC 7B13 (4 cores)  ·  JAX backend, preset cpu",
        "16 sequences  ·  1,249 target tokens a step  ·  8 pairs of steps  ·  paths interleaved  ·  calls pipelined",
    ]
    what, how = words.where(told("on a GPU"))
    assert what == "Qwen/Qwen3-4B-Instruct-2507, pretrained weights  ·  NVIDIA L4  ·  FSDP backend, preset cpu"
    assert how.endswith("one path after the other  ·  each call waited for")


def test_the_embedded_model_is_said_to_know_arithmetic(told):
    result = told("schema1")
    setting = dataclasses.replace(result.setting, weights="arithmetic")
    assert words.where(dataclasses.replace(result, setting=setting))[0].startswith("tiny-qwen3, trained on arithmetic  ·  CPU only")


def test_devices_that_are_made_of_one_processor_are_counted(told):
    setting = told("schema1").setting
    assert words.machine(dataclasses.replace(setting, devices=1)) == "CPU only: AMD EPYC 7B13 (4 cores)"
    assert words.machine(dataclasses.replace(setting, devices=2)) == "CPU only: AMD EPYC 7B13 (4 cores, as 2 devices)"
    assert words.machine(dataclasses.replace(setting, devices=2, cpu_count=None)) == "CPU only: AMD EPYC 7B13 (as 2 devices)"


def test_several_gpus_are_counted(told):
    assert "8 × NVIDIA RTX PRO 6000" in words.where(told("long words"))[0]


def test_the_control_is_judged_by_whether_its_interval_holds_zero(told):
    lines = words.other_comparisons(told("schema1"))
    assert len(lines) == 2
    assert lines[0].startswith("Fused GSPO against the SDK's custom loss: saving 40.6 %, 95 % interval")
    assert lines[1].startswith("Control, fused against itself: 0.4 %, 95 % interval")
    assert lines[1].endswith("; it holds 0, as it should.")


def test_a_control_that_misses_zero_is_called_out(written):
    document = copy.deepcopy(CASES["schema1"])
    document["comparisons"][-1] |= {"saving_median_pct": 3.0, "ci_low_pct": 1.0, "ci_high_pct": 5.0}
    assert "it should hold 0, and does not" in words.other_comparisons(read_result(written(document)))[-1]


def test_a_partial_run_says_so_and_why(told):
    assert words.alert(told("schema1")) is None
    assert words.alert(told("partial")) == "PARTIAL RUN: server died while waiting for optim_step after 3 pairs"


def test_a_result_that_is_not_valid_says_so_and_why_and_tells_no_saving(told, written):
    result = told("invalid")
    assert words.title(result) == "Not a valid result: do not use these numbers"
    assert words.alert(result) == "NOT VALID: gspo: row 1 came as row 2"
    assert words.verdict(result) is None
    stopped = read_result(written(CASES["partial"] | {"valid": False}))
    assert words.alert(stopped) == (
        "NOT VALID: the file does not say why; PARTIAL RUN: server died while waiting for optim_step after 3 pairs"
    )
    assert words.alert(read_result(written(CASES["schema1"] | {"valid": True}))) is None


def test_only_the_first_warnings_are_written_out(told):
    lines = words.cautions(told("long words"))
    assert len(lines) == 4
    assert lines[3] == ("4 more warnings in the file.", True)


def test_warnings_that_speak_against_the_numbers_come_first_and_the_others_are_notes(written):
    document = copy.deepcopy(CASES["schema1"])
    document["warnings"] = [
        {"code": "A", "text": "a", "action": "", "unstable": False},
        {"code": "B", "text": "b.", "action": "", "unstable": True},
        {"code": "C", "text": "c", "action": ""},
    ]
    assert words.cautions(read_result(written(document))) == [
        ("Warning B: b.", True),
        ("Warning C: c.", True),
        ("Note A: a.", False),
    ]


def test_the_legend_names_the_bar_the_whisker_and_the_dots(told):
    assert words.legend(measures(told("published"))) == (
        "Bar: mean of the timed steps; whisker: one standard deviation either side; dots: each step, first to last from left to right."
    )
    assert "Bar: median of the timed steps; whisker: middle half of the steps" in words.legend(measures(told("schema1")))
    assert "whisker" not in words.legend(measures(told("one step")))
    assert "triangle: a step beyond the panel (the longest took 40.00 s)" in words.legend(measures(told("one slow step")))


def test_the_source_names_the_file_and_its_time(told):
    assert words.source(told("schema1")) == "From last_gspo_bench.json, measured 2026-11-30 09:00 UTC."
    assert words.source(told("published")) == "From last_gspo_bench.json."
