"""A whole run against the fake client and a little HTTP server: what is on disk at the end, and after each way of ending early."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tinker

from bench import batch as batches
from bench import result_file, results, rollout, run, stats
from bench.clock import Clock
from bench.errors import BenchError, InputError, NotEquivalentError, ServerGoneError, UnsavedError, UnstableError, UnsupportedError
from bench.gspo import Clip
from bench.probe import Probe
from bench.session import ModelRequest, Session
from bench.settings import RunSettings
from tests.bench.fakes import HEALTHY, SMALL_BATCH, FakeClient, FakeReporter, FakeTime, http_server, json_answer

ENVIRONMENT = {"gpus": [{"name": "NVIDIA L4", "used_bytes": 5, "total_bytes": 24}], "backend": "fsdp", "weights": "pretrained"}


@dataclass
class Stage:
    """The fake server: its client, what was asked of the session, and whether it was closed."""

    client: FakeClient
    url: str
    answers: dict[str, Any]
    requests: list[ModelRequest] = field(default_factory=list)
    closed: int = 0
    gone: frozenset[str] = frozenset()


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    answers = {**HEALTHY, "/gspo-bench/environment": json_answer(json.dumps(ENVIRONMENT))}
    with http_server(answers) as url:
        made = Stage(FakeClient(FakeTime()), url, answers)

        @contextlib.contextmanager
        def open_session(probe: Probe, _wait: Any, request: ModelRequest, _say: Any) -> Iterator[Session]:
            made.requests.append(request)
            try:
                yield Session(made.client, "Qwen/toy", probe, gone=made.gone)  # type: ignore[arg-type]
            finally:
                made.closed += 1

        monkeypatch.setattr(stats, "RESAMPLES", 500)
        monkeypatch.setattr(run, "open_session", open_session)
        monkeypatch.setattr(run, "Clock", made.client.time.clock)
        monkeypatch.setattr(rollout, "load_tokenizer", lambda name: SimpleNamespace(eos_token_id=2))
        monkeypatch.setattr(rollout, "prompt_tokens", lambda tokenizer, question: [len(question), 4, 5])
        yield made


def settings_of(stage: Stage, tmp_path: Path, **changes: Any) -> RunSettings:
    values: dict[str, Any] = {
        "base_url": stage.url,
        "model": None,
        "tokenizer": None,
        "steps": 4,
        "max_steps": 8,
        "warmup": 1,
        "max_tokens": 16,
        "lora_rank": 8,
        "learning_rate": 1e-6,
        "clip": Clip(),
        "path_names": ("native_1pass", "custom_2pass"),
        "control": False,
        "order": "interleaved",
        "blocking": False,
        "target_ci_pct": None,
        "floor_steps": 2,
        "prompts": "builtin",
        "prompts_count": 4,
        "rollouts": "sampled",
        "batch": None,
        "seed": 3,
        "deadline_s": 600.0,
        "ready_deadline_s": 600.0,
        "wait_for_tenant": False,
        "strict": False,
        "peak_tflops": None,
        "results": tmp_path / "results",
    }
    return RunSettings(**{**values, **changes})


def last(tmp_path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((tmp_path / "results" / "last_gspo_bench.json").read_text())
    return document


def only_run(tmp_path: Path) -> dict[str, Any]:
    (path,) = (tmp_path / "results" / "runs").iterdir()
    document: dict[str, Any] = json.loads(path.read_text())
    return document


def test_a_whole_run_writes_what_it_returns_with_known_numbers(stage: Stage, tmp_path: Path) -> None:
    reporter = FakeReporter()
    document = run.run(settings_of(stage, tmp_path), reporter)  # type: ignore[arg-type]
    assert last(tmp_path) == only_run(tmp_path) == document
    assert (document["status"], document["reason"]) == ("complete", None)
    assert document["native_1pass"]["times"] == pytest.approx([2.5] * 4)
    assert document["custom_2pass"]["times"] == pytest.approx([3.5] * 4)
    assert document["summary"]["step_time_reduction_pct"] == pytest.approx(100 / 3.5)
    assert document["comparisons"][0]["saving_median_pct"] == pytest.approx(100 / 3.5)
    assert document["floor"]["native_1pass"]["times"] == pytest.approx([2.5] * 2)
    assert document["floor"]["custom_2pass"]["median_s"] == pytest.approx(3.5)
    assert len(document["steps"]) == 2 * (1 + 4)
    assert document["environment"]["server"] == ENVIRONMENT
    assert [entry["stage"] for entry in document["environment"]["memory"]] == ["ready", "sampled", "measured"]
    assert document["environment"]["memory"][0]["gpus"][0]["used_bytes"] == 5
    # The fake sampler answers prompt i (3 tokens) with 2, 3, 4 and 5 tokens.
    assert document["batch"]["response_lengths"] == [2, 3, 4, 5]
    assert document["summary"]["total_tokens_per_step"] == 4 * 2 + 2 + 3 + 4 + 5
    # Near-empty steps take as long as the batch's here, so the polling floor is all of it.
    assert [warning["code"] for warning in document["warnings"]] == ["POLLING_FLOOR"] * 2
    assert reporter.total == len(reporter.steps) == 10
    assert stage.closed == 1


def test_the_file_is_named_for_the_time_the_model_and_the_gpu(stage: Stage, tmp_path: Path) -> None:
    run.run(settings_of(stage, tmp_path), FakeReporter())  # type: ignore[arg-type]
    (path,) = (tmp_path / "results" / "runs").iterdir()
    assert path.name.endswith("Z-toy-NVIDIA_L4.json")


def test_the_sampled_batch_is_saved_and_runs_again_as_it_was(stage: Stage, tmp_path: Path) -> None:
    first = run.run(settings_of(stage, tmp_path), FakeReporter())  # type: ignore[arg-type]
    path = tmp_path / "results" / first["batch"]["file"]
    assert batches.load(path).sha256 == first["batch"]["sha256"]
    again = run.run(settings_of(stage, tmp_path, batch=path), FakeReporter())  # type: ignore[arg-type]
    assert again["batch"]["sha256"] == first["batch"]["sha256"]
    assert [entry["stage"] for entry in again["environment"]["memory"]] == ["ready", "measured"]


def test_the_model_is_asked_for_as_the_flags_say(stage: Stage, tmp_path: Path) -> None:
    run.run(settings_of(stage, tmp_path, model="Qwen/x", wait_for_tenant=True), FakeReporter())  # type: ignore[arg-type]
    assert stage.requests == [ModelRequest("Qwen/x", 8, 3, True)]
    assert {adam.learning_rate for adam in stage.client.adams} == {1e-6}


def test_the_control_is_timed_and_compared(stage: Stage, tmp_path: Path) -> None:
    document = run.run(settings_of(stage, tmp_path, control=True), FakeReporter())  # type: ignore[arg-type]
    assert document["native_1pass_control"]["n"] == 4
    assert document["native_1pass_control"]["requests_per_step"] == 2
    assert document["comparisons"][-1]["candidate"] == "native_1pass_control"
    assert document["comparisons"][-1]["ci_low_pct"] == pytest.approx(0.0, abs=1e-9)
    assert "native_1pass_control" not in document["floor"]


def test_a_failure_in_the_middle_keeps_what_was_measured_marked_partial(stage: Stage, tmp_path: Path) -> None:
    # Gradients: 2 floor steps and a warm-up of each path (6), a warm-up of each (2), two pairs (4), then one fails.
    stage.client.fail_at[13] = tinker.TinkerError("CUDA out of memory")
    reporter = FakeReporter()
    with pytest.raises(BenchError, match=r"forward_backward: the server at .* failed: CUDA out of memory"):
        run.run(settings_of(stage, tmp_path), reporter)  # type: ignore[arg-type]
    document = last(tmp_path)
    assert document == only_run(tmp_path)
    assert document["status"] == "partial"
    assert document["reason"].startswith("ended early: forward_backward: the server at")
    assert (document["native_1pass"]["n"], document["custom_2pass"]["n"]) == (2, 2)
    own = next((tmp_path / "results" / "runs").glob("*.json"))
    assert reporter.said[-1] == f"kept what was measured, marked partial: {own}; last_gspo_bench.json is this run now"
    assert stage.closed == 1


def test_a_run_killed_outright_leaves_the_rounds_so_far_marked_partial(stage: Stage, tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []

    def look(_record: Any) -> None:
        if (tmp_path / "results" / "runs").exists():
            seen.append(only_run(tmp_path))

    run.run(settings_of(stage, tmp_path), FakeReporter(on_step=look))  # type: ignore[arg-type]
    # Seen during rounds 2, 3 and 4, at both of their steps: the rounds before them.
    assert [len(document["steps"]) for document in seen] == [4, 4, 6, 6, 8, 8]
    assert {document["status"] for document in seen} == {"partial"}


def test_an_interrupt_keeps_what_was_measured_and_frees_the_model(stage: Stage, tmp_path: Path) -> None:
    def interrupt(record: Any) -> None:
        if record.index == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.run(settings_of(stage, tmp_path), FakeReporter(on_step=interrupt))  # type: ignore[arg-type]
    document = last(tmp_path)
    assert (document["status"], document["reason"]) == ("partial", "ended early: interrupted")
    assert len(document["steps"]) == 5
    assert stage.closed == 1


def test_a_run_that_ends_early_says_where_the_run_before_it_stays(stage: Stage, tmp_path: Path) -> None:
    run.run(settings_of(stage, tmp_path), FakeReporter())  # type: ignore[arg-type]
    whole = next((tmp_path / "results" / "runs").glob("*.json")).rename(tmp_path / "results" / "runs" / "before.json")
    reporter = FakeReporter()
    stage.client.fail_at[stage.client.gradients + 13] = tinker.TinkerError("boom")
    with pytest.raises(BenchError):
        run.run(settings_of(stage, tmp_path), reporter)  # type: ignore[arg-type]
    assert reporter.said[-1].endswith(f"; last_gspo_bench.json is this run now, the run before it stays in {whole}")
    assert (last(tmp_path)["status"], json.loads(whole.read_text())["status"]) == ("partial", "complete")


def test_a_failure_before_a_counted_step_does_not_replace_the_last_good_file(stage: Stage, tmp_path: Path) -> None:
    run.run(settings_of(stage, tmp_path), FakeReporter())  # type: ignore[arg-type]
    before = last(tmp_path)
    # The next run's second warm-up: 6 floor steps and one warm-up come before it.
    stage.client.fail_at[stage.client.gradients + 8] = tinker.TinkerError("boom")
    reporter = FakeReporter()
    with pytest.raises(BenchError):
        run.run(settings_of(stage, tmp_path), reporter)  # type: ignore[arg-type]
    assert last(tmp_path) == before
    assert "marked partial" in reporter.said[-1] and "last_gspo_bench.json" not in reporter.said[-1]


def test_a_loss_that_the_server_lacks_is_found_before_sampling_and_named_with_what_to_use(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.client.unsupported = ("gspo",)
    monkeypatch.setattr(stage.client, "save_weights_and_get_sampling_client", lambda: pytest.fail("sampled"))
    with pytest.raises(UnsupportedError) as raised:
        run.run(settings_of(stage, tmp_path), FakeReporter())  # type: ignore[arg-type]
    first, second = str(raised.value).split("\n")
    assert first == "the server's JAX backend has no loss 'gspo', which native_1pass needs."
    assert "--paths custom_2pass" in second
    assert raised.value.exit_code == 4
    assert stage.closed == 1


def test_the_other_path_can_still_run_on_that_server(stage: Stage, tmp_path: Path) -> None:
    stage.client.unsupported = ("gspo",)
    document = run.run(settings_of(stage, tmp_path, path_names=("custom_2pass",)), FakeReporter())  # type: ignore[arg-type]
    assert document["custom_2pass"]["n"] == 4
    assert document["comparisons"] == []
    assert document["summary"]["step_time_reduction_pct"] is None
    assert "native_1pass" not in document


def test_with_a_target_the_run_goes_on_until_the_interval_is_narrow(stage: Stage, tmp_path: Path) -> None:
    # Gradients of the first four rounds differ widely; then all are alike.
    uneven = [2.0] * 8 + [2.0, 4.0, 4.0, 2.0, 2.0, 9.0, 1.0, 2.0]
    stage.client.seconds["forward_backward"] = iter(uneven + [2.0] * 1000)
    document = run.run(settings_of(stage, tmp_path, steps=4, max_steps=64, target_ci_pct=1.0), FakeReporter())  # type: ignore[arg-type]
    pairs = document["comparisons"][0]["pairs"]
    assert 4 < pairs < 64 and pairs % 2 == 0
    assert document["comparisons"][0]["ci_high_pct"] - document["comparisons"][0]["ci_low_pct"] <= 1.0


def test_with_a_target_out_of_reach_the_run_ends_at_the_most_steps(stage: Stage, tmp_path: Path) -> None:
    stage.client.seconds["forward_backward"] = iter([2.0, 3.0, 5.0, 4.0, 9.0] * 100)
    document = run.run(settings_of(stage, tmp_path, max_steps=7, target_ci_pct=0.001), FakeReporter())  # type: ignore[arg-type]
    assert document["comparisons"][0]["pairs"] == 7


def test_a_server_without_our_routes_leaves_null(stage: Stage, tmp_path: Path) -> None:
    del stage.answers["/gspo-bench/environment"]
    document = run.run(settings_of(stage, tmp_path), FakeReporter())  # type: ignore[arg-type]
    assert document["environment"]["server"] is None
    assert [entry["gpus"] for entry in document["environment"]["memory"]] == [[], []]


@pytest.mark.parametrize("text", ['{"gpus": 3}', '{"gpus": [null, 1]}', "{}", '{"backend": 7, "weights": []}'])
def test_an_odd_environment_does_not_end_a_run(stage: Stage, tmp_path: Path, text: str) -> None:
    stage.answers["/gspo-bench/environment"] = json_answer(text)
    assert run.run(settings_of(stage, tmp_path), FakeReporter())["environment"]["server"] == json.loads(text)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("environment", "paths", "code"),
    [
        ({"backend": "megatron"}, ("native_1pass", "custom_2pass"), "MEGATRON_ORDER"),
        ({"backend": "jax", "weights": "random"}, ("native_1pass", "custom_2pass"), "RANDOM_WEIGHTS"),
    ],
)
def test_what_the_server_is_known_for_is_warned_of(
    stage: Stage, tmp_path: Path, environment: dict[str, str], paths: tuple[str, ...], code: str
) -> None:
    stage.answers["/gspo-bench/environment"] = json_answer(json.dumps(environment))
    document = run.run(settings_of(stage, tmp_path, path_names=paths), FakeReporter())  # type: ignore[arg-type]
    assert code in [warning["code"] for warning in document["warnings"]]


def test_outputs_out_of_order_on_several_devices_make_the_result_invalid_and_lose_nothing(stage: Stage, tmp_path: Path) -> None:
    stage.answers["/gspo-bench/environment"] = json_answer(json.dumps(ENVIRONMENT | {"placement": {"nodes": 1, "devices_per_node": 2}}))
    forward = stage.client.forward

    def mixed_up(data: list[tinker.Datum], loss_fn: str) -> Any:
        future = forward(data, loss_fn)
        if len(data) == 16:
            future._outcome.loss_fn_outputs.reverse()
        return future

    stage.client.forward = mixed_up  # type: ignore[method-assign]
    document = run.run(settings_of(stage, tmp_path), FakeReporter())  # type: ignore[arg-type]
    assert document == last(tmp_path)
    assert document["valid"] is False
    assert document["order_check"]["outcome"] == "fail"
    assert document["warnings"][0]["code"] == "OUTPUTS_OUT_OF_ORDER"
    assert document["native_1pass"]["n"] == document["custom_2pass"]["n"] == 4
    with pytest.raises(NotEquivalentError, match="the result is not valid: ") as raised:
        run.check_valid(document)
    assert raised.value.exit_code == 5


OTHER = {"session_id": "session_4", "model_id": "model_4", "user_metadata": {"program": "rl", "host": "vm-1", "pid": "77"}}
GONE = OTHER | {"session_id": "session_3"}


def told_of(*entries: dict[str, Any]) -> tuple[int, str, bytes]:
    return json_answer(json.dumps(entries))


@pytest.mark.parametrize("seen_at", [3, 10], ids=["gone again at the end", "there at the end"])
def test_a_run_beside_another_client_is_kept_and_not_valid_and_says_whose_it_was(stage: Stage, tmp_path: Path, seen_at: int) -> None:
    reporter = FakeReporter()
    stage.gone = frozenset({"session_3"})
    stage.answers["/gspo-bench/tenants"] = told_of(GONE)

    def on_step(record: Any) -> None:
        # Two warm-ups and four pairs: the last step is the tenth.
        stage.answers["/gspo-bench/tenants"] = told_of(GONE, OTHER) if len(reporter.steps) in (seen_at, seen_at + 1) else told_of(GONE)

    reporter.on_step = on_step
    document = run.run(settings_of(stage, tmp_path), reporter)  # type: ignore[arg-type]
    words = "steps were timed while others held a model on the server: session session_4 (rl on vm-1, pid 77)"
    assert document == last(tmp_path)
    assert (document["status"], document["valid"], document["invalid"], document["order_check"]) == ("complete", False, words, None)
    assert document["native_1pass"]["n"] == document["custom_2pass"]["n"] == 4
    assert [warning["text"] for warning in document["warnings"] if warning["code"] == "NOT_ALONE"] == [words]
    assert result_file.of_document(document, "x").invalid == words
    with pytest.raises(UnstableError, match=r"the result is not valid: steps were timed .*\n.*run again when nobody else") as raised:
        run.check_valid(document)
    assert raised.value.exit_code == 6


def test_a_model_of_a_client_that_was_gone_before_speaks_against_nothing(stage: Stage, tmp_path: Path) -> None:
    stage.gone = frozenset({"session_3"})
    stage.answers["/gspo-bench/tenants"] = told_of(GONE)
    document = run.run(settings_of(stage, tmp_path), FakeReporter())  # type: ignore[arg-type]
    assert (document["valid"], document["invalid"]) == (True, None)


def test_one_device_is_not_asked_and_several_in_order_are_valid(stage: Stage, tmp_path: Path) -> None:
    document = run.run(settings_of(stage, tmp_path), FakeReporter())  # type: ignore[arg-type]
    assert (document["valid"], document["order_check"]) == (True, None)
    stage.answers["/gspo-bench/environment"] = json_answer(json.dumps(ENVIRONMENT | {"placement": {"nodes": 1, "devices_per_node": 2}}))
    document = run.run(settings_of(stage, tmp_path), FakeReporter())  # type: ignore[arg-type]
    assert (document["valid"], document["order_check"]["outcome"]) == (True, "pass")
    run.check_valid(document)


def test_without_a_server_nothing_is_opened(stage: Stage, tmp_path: Path) -> None:
    stage.answers.clear()
    with pytest.raises(ServerGoneError, match="no server at"):
        run.run(settings_of(stage, tmp_path, ready_deadline_s=0.1), FakeReporter())  # type: ignore[arg-type]
    assert stage.requests == []


def test_a_disk_that_is_full_does_not_end_the_steps_and_costs_no_number(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, document: Any, indent: int | None = 2) -> None:
        raise InputError(f"cannot write {path}: No space left on device.\nfree space on its disk")

    monkeypatch.setattr(results, "write_json", full)
    monkeypatch.setattr(results, "write_new_json", full)
    reporter = FakeReporter()
    with pytest.raises(UnsavedError, match="No space left on device") as raised:
        run.run(settings_of(stage, tmp_path), reporter)  # type: ignore[arg-type]
    assert raised.value.exit_code == 2
    assert len(raised.value.document["native_1pass"]["times"]) == 4
    # Told once, not after every round.
    assert [text for text in reporter.said if "No space left" in text and text.endswith("The run goes on.")] == reporter.said[-1:]
    assert stage.closed == 1


def test_a_disk_that_is_full_does_not_hide_why_a_run_ended_early(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.client.fail_at[10] = ServerGoneError("the server died")

    def full(path: Path, document: Any, indent: int | None = 2) -> None:
        raise InputError(f"cannot write {path}: No space left on device.")

    monkeypatch.setattr(results, "write_json", full)
    monkeypatch.setattr(results, "write_new_json", full)
    with pytest.raises(ServerGoneError, match="the server died"):
        run.run(settings_of(stage, tmp_path), FakeReporter())  # type: ignore[arg-type]


def test_two_runs_of_one_second_in_one_folder_keep_their_results_each(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "run_name", lambda *facts: "20261130T090000Z-toy-NVIDIA_L4.json")
    documents = [run.run(settings_of(stage, tmp_path, steps=steps), FakeReporter()) for steps in (2, 4)]  # type: ignore[arg-type]
    names = ["20261130T090000Z-toy-NVIDIA_L4.json", "20261130T090000Z-toy-NVIDIA_L4-2.json"]
    assert [json.loads((tmp_path / "results" / "runs" / name).read_text()) for name in names] == documents
    assert [document["native_1pass"]["n"] for document in documents] == [2, 4]
    assert len(list((tmp_path / "results" / "runs").iterdir())) == 2


def test_a_wall_clock_that_is_set_back_changes_no_time(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    time = stage.client.time
    backwards = Clock(now_s=lambda: time.now_s, sleep=time.sleep, wall_s=lambda: 1_800_000_000.0 - 100.0 * time.now_s)
    monkeypatch.setattr(run, "Clock", lambda: backwards)
    document = run.run(settings_of(stage, tmp_path), FakeReporter())  # type: ignore[arg-type]
    assert document["native_1pass"]["times"] == pytest.approx([2.5] * 4)
    assert all(step["step_s"] > 0 and step["pause_s"] >= 0 for step in document["steps"])
    moments = [step["started_at"] for step in document["steps"]]
    assert moments == sorted(moments, reverse=True)
    result_file.of_document(document, "f.json")


def test_calls_that_would_be_split_differently_are_refused(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def chunks(data: list[tinker.Datum]) -> list[Any]:
        return [data] * (2 if "advantages" in data[0].loss_fn_inputs else 1)

    monkeypatch.setattr(stage.client, "_chunked_requests_generator", chunks)
    with pytest.raises(BenchError, match="fused call into 2 requests and the forward into 1"):
        run.run(settings_of(stage, tmp_path), FakeReporter())  # type: ignore[arg-type]


def test_strict_speaks_only_for_warnings_against_the_number() -> None:
    stable = {"warnings": [{"code": "POLLING_FLOOR", "unstable": False}]}
    run.check_strict(stable)
    with pytest.raises(UnstableError, match="not stable enough for --strict: DRIFT") as raised:
        run.check_strict({"warnings": [*stable["warnings"], {"code": "DRIFT", "unstable": True}]})
    assert raised.value.exit_code == 6


def test_the_batch_file_of_a_run_is_the_one_it_names(stage: Stage, tmp_path: Path) -> None:
    path = tmp_path / "small.json"
    batches.save(replace(SMALL_BATCH), path)
    document = run.run(settings_of(stage, tmp_path, batch=path), FakeReporter())  # type: ignore[arg-type]
    assert document["batch"]["sha256"] == SMALL_BATCH.sha256
    assert document["summary"]["total_tokens_per_step"] == 8
    assert document["settings"]["batch"] == str(path)


def test_what_intervals_need_is_imported_before_the_first_step(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    monkeypatch.setattr(stats, "load", lambda: order.append("load"))
    reporter = FakeReporter(on_step=lambda record: order.append("step"))
    run.run(settings_of(stage, tmp_path), reporter)
    assert order[0] == "load"
    assert order.count("load") == 1
