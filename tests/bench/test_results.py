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
    round_trips={"native_1pass": 1, "custom_2pass": 2, "sdk_custom": 2, "native_1pass_control": 1},
    chunks=1,
    settings={"seed": 0, "order": "interleaved", "lora_rank": 32},
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
    # Schema 1 grew: nothing that it had went or moved.
    assert [key for key in ours if key not in ("valid", "invalid", "order_check", "roofline", "projection", "clock")] == list(frozen)
    for arm in arms:
        assert [key for key in ours[arm] if key not in ("timeline_mean_s", "wire_mean", "utilisation")] == list(frozen[arm])
    assert list(ours["summary"]) == list(frozen["summary"])
    assert set(ours["steps"][0]) == set(frozen["steps"][0]) | {"timeline_s", "wire", "reason"}
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


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(model=st.text(), server=st.none() | st.fixed_dictionaries({"gpus": gpu_lists}))
def test_any_model_and_server_give_a_name_that_is_one_plain_file_in_the_folder(model: str, server: dict[str, Any] | None) -> None:
    name = results.file_name(replace(FACTS, model=model, server=server))
    assert Path(name).name == name
    assert name.isascii() and name.isprintable() and " " not in name
    assert not name.startswith(".") and len(name) < 160


def with_wire(entry: StepRecord) -> StepRecord:
    """2,500,000 bytes up and down: 0.2 s at 100 Mbit/s; twice that for two passes."""
    size = 1_250_000 * (2 if entry.path == "custom_2pass" else 1)
    return replace(entry, wire={"requests": 4, "training_requests": 2, "failed_requests": 0, "up_bytes": size, "down_bytes": size})


def test_a_slow_wire_adds_its_round_trips_and_its_bytes_to_the_measured_step() -> None:
    document = assembled([with_wire(entry) for entry in RECORDS])
    assert document["native_1pass"]["wire_mean"] == {
        "requests": 4,
        "training_requests": 2,
        "up_bytes": 1_250_000,
        "down_bytes": 1_250_000,
        "round_trips": 1,
    }
    row = document["projection"]["rows"][3]
    # Means 3 and 4.25 s; one round trip and 0.2 s against two and 0.4 s.
    assert row["rtt_ms"] == 150
    assert row["native_1pass_s"] == pytest.approx(3.0 + 0.15 + 0.2)
    assert row["custom_2pass_s"] == pytest.approx(4.25 + 0.3 + 0.4)
    assert row["saving_pct"] == pytest.approx(100 * (1 - 3.35 / 4.95))


def test_without_a_count_of_the_wire_nothing_is_projected() -> None:
    document = assembled()
    assert document["native_1pass"]["wire_mean"] is None
    assert document["projection"] is None


def test_a_paths_timeline_is_the_mean_over_its_counted_steps() -> None:
    seen = [{"queued": 1.0, "unexplained": 0.5}, {"queued": 0.0, "engine_forward": 2.0, "unexplained": 0.5}]
    records = [
        replace(record("native_1pass", 0, 50.0, counted=False), timeline_s={"queued": 50.0, "unexplained": 0.0}),
        *[replace(record("native_1pass", index, 2.0), timeline_s=seen[index]) for index in (0, 1)],
    ]
    assert assembled(records)["native_1pass"]["timeline_mean_s"] == {"queued": 0.5, "engine_forward": 1.0, "unexplained": 0.5}


def test_a_path_with_a_step_that_the_server_has_no_record_of_has_no_timeline() -> None:
    records = [replace(record("native_1pass", 0, 2.0), timeline_s={"queued": 2.0, "unexplained": 0.0}), record("native_1pass", 1, 2.0)]
    assert assembled(records)["native_1pass"]["timeline_mean_s"] is None


def test_a_known_gpu_and_shape_give_a_floor_and_a_utilisation() -> None:
    config = {
        "hidden_size": 4,
        "intermediate_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 2,
        "vocab_size": 10,
    }
    server = {"gpus": [{"name": "NVIDIA L4"}], "backend": "fsdp", "backend_config": {}, "model_config": config}
    facts = replace(FACTS, server=server, settings={**FACTS.settings, "lora_rank": 1})
    document = assembled(facts=facts)
    floor = document["roofline"]
    assert (floor["device"], floor["peak_tflops"], floor["gradient_checkpointing"]) == ("NVIDIA L4", 121.0, True)
    used = document["native_1pass"]["utilisation"]
    assert used["flops"] == floor["paths"]["native_1pass"]["flops"]
    assert used["floor_s"] == pytest.approx(used["flops"] / 121e12)
    # The median step took 3 s.
    assert used["mfu_pct"] == pytest.approx(100 * used["floor_s"] / 3.0)


def test_a_server_that_does_not_tell_its_models_shape_has_no_floor() -> None:
    document = assembled()
    assert document["roofline"] is None
    assert document["native_1pass"]["utilisation"] is None
