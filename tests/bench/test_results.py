"""The result file: the published shape as a subset, valid at any moment, and named so that any file system takes it."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench import results
from bench.measure import StepRecord
from bench.results import RunFacts
from tests.bench.fakes import SMALL_BATCH, paired, record

FROZEN = Path(__file__).parents[1] / "data" / "schema1_gspo_bench.json"

FACTS = RunFacts(
    model="Qwen/Qwen3-0.6B",
    batch=SMALL_BATCH,
    batch_file="batches/abc.json",
    arms=("native_1pass", "custom_2pass"),
    requests={"native_1pass": 2, "custom_2pass": 3, "sdk_custom": 3, "native_1pass_control": 2},
    chunks=1,
    settings={"seed": 0, "order": "interleaved"},
    floor_s={"native_1pass": [0.3, 0.1, 0.2]},
    client={"python": "3.13"},
    server=None,
    memory=[],
    created_at=datetime(2026, 11, 30, 9, 0, 0, 123456, tzinfo=UTC),
)
RECORDS = [
    record("native_1pass", 0, 50.0, counted=False),
    record("custom_2pass", 0, 60.0, counted=False),
    *paired([4.0, 4.0, 5.0, 4.0], [2.0, 3.0, 4.0, 3.0]),
]


def assembled(records: list[StepRecord] = RECORDS, facts: RunFacts = FACTS, reason: str | None = None) -> dict[str, Any]:
    document = results.assemble(facts, records, reason)
    json.dumps(document, allow_nan=False)
    return document


def test_the_published_keys_are_there_with_the_published_meaning() -> None:
    document = assembled()
    native = document["native_1pass"]
    assert native["times"] == [2.0, 3.0, 4.0, 3.0]
    assert native["mean_s"] == pytest.approx(3.0)
    # Deviations -1, 0, 1, 0 over n - 1 = 3.
    assert native["stdev_s"] == pytest.approx((2 / 3) ** 0.5)
    # 8 target tokens a step, over the mean.
    assert native["tokens_per_s"] == pytest.approx(8 / 3.0)
    assert document["custom_2pass"]["mean_s"] == pytest.approx(4.25)
    summary = document["summary"]
    assert (summary["model"], summary["batch_seqs"], summary["total_tokens_per_step"]) == ("Qwen/Qwen3-0.6B", 2, 8)
    assert summary["step_time_reduction_pct"] == pytest.approx(100 * (1 - 3.0 / 4.25))
    assert summary["throughput_gain_pct"] == pytest.approx(100 * (4.25 / 3.0 - 1))


def test_what_is_beyond_the_published_keys() -> None:
    document = assembled()
    assert (document["schema"], document["kind"], document["status"], document["reason"]) == (1, "gspo-bench", "complete", None)
    assert document["created_at"] == "2026-11-30T09:00:00Z"
    native = document["native_1pass"]
    assert (native["n"], native["median_s"], native["requests_per_step"], native["chunks_per_call"]) == (4, 3.0, 2, 1)
    # A tenth of each step encodes, by the maker of these records.
    assert native["phases_mean_s"] == pytest.approx({"encode": 0.3, "forward_backward_wait": 2.7})
    assert native["client_overhead_s"] == pytest.approx(0.3)
    assert document["custom_2pass"]["requests_per_step"] == 3
    headline = document["comparisons"][0]
    assert (headline["baseline"], headline["candidate"]) == ("custom_2pass", "native_1pass")
    assert headline["savings_pct"] == pytest.approx([50.0, 25.0, 20.0, 25.0])
    assert (headline["saving_median_pct"], headline["pairs"], headline["faster_in"]) == (pytest.approx(25.0), 4, 4)
    assert headline["ci_level"] == 0.95
    # The extremes of four savings: their expanded 95 % interval reaches both.
    assert (headline["ci_low_pct"], headline["ci_high_pct"]) == (pytest.approx(20.0), pytest.approx(50.0))
    assert document["floor"] == {"native_1pass": {"median_s": 0.2, "times": [0.3, 0.1, 0.2]}}
    assert document["batch"]["file"] == "batches/abc.json"
    assert document["batch"]["sha256"] == SMALL_BATCH.sha256


def test_warm_ups_are_in_the_steps_and_in_no_number() -> None:
    document = assembled()
    assert [step["counted"] for step in document["steps"]] == [False, False, *[True] * 8]
    assert 50.0 not in document["native_1pass"]["times"]


def test_the_frozen_file_of_schema_1_has_these_keys_with_these_types() -> None:
    frozen = json.loads(FROZEN.read_text())
    arms = ("native_1pass", "custom_2pass", "sdk_custom", "native_1pass_control")
    records = [record(arm, index, 1.0 + index / 10) for index in range(4) for arm in arms]
    ours = assembled(records, replace(FACTS, arms=arms))
    assert frozen["schema"] == ours["schema"] == 1
    assert list(ours) == list(frozen)
    for arm in arms:
        assert list(ours[arm]) == list(frozen[arm])
    assert list(ours["summary"]) == list(frozen["summary"])
    assert set(ours["steps"][0]) == set(frozen["steps"][0])
    assert [(entry["baseline"], entry["candidate"]) for entry in ours["comparisons"]] == [
        ("custom_2pass", "native_1pass"),
        ("sdk_custom", "native_1pass"),
        ("native_1pass", "native_1pass_control"),
    ]
    for entry in (*ours["comparisons"], *frozen["comparisons"]):
        assert set(entry) == set(ours["comparisons"][0])
    assert set(frozen["batch"]) <= set(ours["batch"])
    assert set(ours["environment"]) == set(frozen["environment"]) == {"client", "server", "memory"}


@pytest.mark.parametrize("taken", range(len(RECORDS) + 1))
def test_a_file_is_valid_after_any_number_of_steps(taken: int) -> None:
    document = assembled(RECORDS[:taken], reason="ended early: the server died")
    assert (document["status"], document["reason"]) == ("partial", "ended early: the server died")
    assert len(document["steps"]) == taken
    # Two warm-ups, then the fused step of the first pair, then the other one.
    assert ("native_1pass" in document, "custom_2pass" in document) == (taken > 2, taken > 3)
    assert (document["summary"]["step_time_reduction_pct"] is None) is (taken < 4)
    assert len(document["comparisons"]) == (1 if taken > 3 else 0)
    assert document["summary"]["verdict"]


def test_one_path_alone_has_no_saving() -> None:
    document = assembled([record("native_1pass", 0, 2.0)], replace(FACTS, arms=("native_1pass",)))
    assert document["comparisons"] == []
    assert document["summary"]["throughput_gain_pct"] is None
    assert document["native_1pass"]["stdev_s"] is None


def test_without_floor_steps_the_floor_is_null() -> None:
    assert assembled(facts=replace(FACTS, floor_s={}))["floor"] is None


def test_saving_writes_the_runs_own_file_and_the_last_one_only_when_asked(tmp_path: Path) -> None:
    document = assembled()
    own = results.save(document, tmp_path, "run.json", last=False)
    assert own == tmp_path / "runs" / "run.json"
    assert not (tmp_path / results.LAST).exists()
    results.save(document, tmp_path, "run.json", last=True)
    assert json.loads((tmp_path / "last_gspo_bench.json").read_text()) == json.loads(own.read_text()) == document


def test_a_number_that_is_none_is_never_written_over_a_good_file(tmp_path: Path) -> None:
    results.save(assembled(), tmp_path, "run.json", last=True)
    before = (tmp_path / results.LAST).read_text()
    with pytest.raises(ValueError, match="JSON compliant"):
        results.save(assembled() | {"native_1pass": {"mean_s": float("nan")}}, tmp_path, "run.json", last=True)
    assert (tmp_path / results.LAST).read_text() == before
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["last_gspo_bench.json", "run.json"]


@pytest.mark.parametrize(
    ("model", "server", "name"),
    [
        ("Qwen/Qwen3-0.6B", {"gpus": [{"name": "NVIDIA L4"}]}, "20261130T090000Z-Qwen3-0.6B-NVIDIA_L4.json"),
        ("/models/tiny-qwen3", {"gpus": []}, "20261130T090000Z-tiny-qwen3-cpu.json"),
        ("tiny", None, "20261130T090000Z-tiny-unknown.json"),
        ("tiny", {}, "20261130T090000Z-tiny-cpu.json"),
        ("tiny", {"gpus": [{}]}, "20261130T090000Z-tiny-gpu.json"),
        ("../../etc/passwd", None, "20261130T090000Z-passwd-unknown.json"),
        ("a/..", None, "20261130T090000Z-unnamed-unknown.json"),
        ("models/", None, "20261130T090000Z-models-unknown.json"),
        ("日本", None, "20261130T090000Z-unnamed-unknown.json"),
    ],
)
def test_file_names_say_when_what_and_where(model: str, server: dict[str, Any] | None, name: str) -> None:
    assert results.file_name(replace(FACTS, model=model, server=server)) == name


gpu_lists = st.none() | st.integers() | st.text() | st.lists(st.none() | st.text() | st.dictionaries(st.text(), st.text()))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(model=st.text(), server=st.none() | st.fixed_dictionaries({"gpus": gpu_lists}))
def test_any_model_and_server_give_a_name_that_is_one_plain_file_in_the_folder(model: str, server: dict[str, Any] | None) -> None:
    name = results.file_name(replace(FACTS, model=model, server=server))
    assert Path(name).name == name
    assert name.isascii() and name.isprintable() and " " not in name
    assert not name.startswith(".") and len(name) < 160
