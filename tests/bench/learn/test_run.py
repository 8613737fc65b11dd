"""Whole runs against the teachable server: the record at every ending, going on with one, and what --resume refuses."""

import contextlib
import json
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bench import image, rollout
from bench.errors import BenchError, InputError, UnsupportedError
from bench.learn import run
from bench.learn.run import Where, learn, open_resumed, settings_of
from bench.learn_command import learn_command
from bench.probe import Probe
from bench.session import ModelRequest, Session
from tests.bench.fakes import HEALTHY, FakeReporter, http_server, json_answer
from tests.bench.learn.fakes import LetterTokenizer, TeachableServer, sevens
from tests.bench.learn.test_loop import settings_of as asked

ENVIRONMENT = {"backend": "fsdp", "weights": "pretrained", "gpus": [{"name": "NVIDIA L4"}]}


@dataclass
class Stage:
    server: TeachableServer
    url: str
    requests: list[ModelRequest] = field(default_factory=list)

    def where(self, tmp_path: Path, **changes: Any) -> Where:
        values: dict[str, Any] = {
            "base_url": self.url,
            "model": None,
            "results": tmp_path,
            "deadline_s": 60.0,
            "ready_deadline_s": 60.0,
            "wait_for_tenant": False,
            "tensorboard": None,
        }
        return Where(**values | changes)


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    answers = {"/gspo-bench/environment": json_answer(json.dumps(ENVIRONMENT)), "/api/v1/weights_info": json_answer("{}")}
    with http_server({**HEALTHY, **answers}) as url:
        made = Stage(TeachableServer(), url)

        @contextlib.contextmanager
        def open_session(probe: Probe, _wait: Any, request: ModelRequest, _say: Any) -> Iterator[Session]:
            made.requests.append(request)
            if request.state is not None and request.state not in made.server.states:
                raise UnsupportedError("the server has no such state")
            yield Session(made.server.client(request.state), "Qwen/toy", probe)  # type: ignore[arg-type]

        monkeypatch.setattr(run, "open_session", open_session)
        monkeypatch.setattr(run, "Clock", made.server.time.clock)
        monkeypatch.setattr(run, "open_task", lambda _name, _folder: sevens())
        monkeypatch.setattr(rollout, "load_tokenizer", lambda _name: LetterTokenizer())
        yield made


def run_of(tmp_path: Path) -> dict[str, Any]:
    pointer = json.loads((tmp_path / "last_learn.json").read_text())
    return dict(json.loads((tmp_path / pointer["run"] / "run.json").read_text()))


def steps_of(tmp_path: Path) -> list[int]:
    pointer = json.loads((tmp_path / "last_learn.json").read_text())
    return [json.loads(line)["step"] for line in (tmp_path / pointer["run"] / "metrics.jsonl").read_text().splitlines()]


def test_a_whole_run_leaves_a_complete_record(stage: Stage, tmp_path: Path) -> None:
    document = learn(asked(), stage.where(tmp_path), None, FakeReporter())  # type: ignore[arg-type]
    assert document == run_of(tmp_path)
    assert (document["schema"], document["kind"], document["status"], document["reason"]) == (1, "gspo-bench-learn", "complete", None)
    assert (document["model"], document["weights"], document["task"], document["path"]) == (
        "Qwen/toy",
        "pretrained",
        "arithmetic",
        "native_1pass",
    )
    assert document["loss"] == {
        "name": "gspo",
        "clip_low_threshold": 0.9997,
        "clip_high_threshold": 1.0004,
        "advantages": "centred",
        "reduction": "mean over tokens, then over sequences: by advantages / (response tokens * sequences), for the server sums",
    }
    assert document["final"]["step"] == 7 and document["final"]["test/env/all/count"] == 5
    assert document["environment"]["server"] == ENVIRONMENT
    assert steps_of(tmp_path) == list(range(7))


def test_a_run_that_fails_is_partial_says_why_and_goes_on(stage: Stage, tmp_path: Path) -> None:
    stage.server.failures["optim_step"] = [BenchError("optim_step: the server failed: out of memory")]
    with pytest.raises(BenchError, match=r"step \d: optim_step"):
        learn(asked(), stage.where(tmp_path), None, FakeReporter())  # type: ignore[arg-type]
    document = run_of(tmp_path)
    assert document["status"] == "partial" and "out of memory" in document["reason"]
    resumed = open_resumed(tmp_path, "last")
    reporter = FakeReporter()
    learn(settings_of(resumed), stage.where(tmp_path), resumed, reporter)  # type: ignore[arg-type]
    assert reporter.said[0] == f"resuming {resumed.folder.path} from the start: it ended before its first checkpoint"
    document = run_of(tmp_path)
    assert (document["status"], document["reason"]) == ("complete", None)
    assert [entry["next_step"] for entry in document["resumed"]] == [0]
    assert steps_of(tmp_path) == list(range(7))
    assert [request.state for request in stage.requests] == [None, None]  # no checkpoint yet: from the start, with the same seed


def test_a_signal_ends_it_after_the_step_and_resume_starts_from_the_saved_state(stage: Stage, tmp_path: Path) -> None:
    reporter = FakeReporter()
    say = reporter.say

    def interrupting(text: str) -> None:
        say(text)
        if text.startswith("step 2:"):
            os.kill(os.getpid(), signal.SIGTERM)

    reporter.say = interrupting  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        learn(asked(checkpoint_every=0), stage.where(tmp_path), None, reporter)  # type: ignore[arg-type]
    document = run_of(tmp_path)
    assert (document["status"], document["reason"]) == ("partial", "interrupted")
    assert steps_of(tmp_path) == [0, 1, 2]
    resumed = open_resumed(tmp_path, "last")
    reporter = FakeReporter()
    learn(settings_of(resumed), stage.where(tmp_path), resumed, reporter)  # type: ignore[arg-type]
    assert reporter.said[0] == f"resuming {resumed.folder.path} from its last checkpoint, after 3 of 7 steps: step 3 is next"
    assert steps_of(tmp_path) == list(range(7))
    assert stage.requests[-1].state == "tinker://model0/weights/step-000003"
    assert stage.requests[-1].model == "Qwen/toy"


def test_a_finished_run_can_be_taken_further(stage: Stage, tmp_path: Path) -> None:
    learn(asked(), stage.where(tmp_path), None, FakeReporter())  # type: ignore[arg-type]
    resumed = open_resumed(tmp_path, "last")
    learn(asked(steps=9), stage.where(tmp_path), resumed, FakeReporter())  # type: ignore[arg-type]
    assert steps_of(tmp_path) == list(range(9))
    assert run_of(tmp_path)["steps"] == run_of(tmp_path)["settings"]["steps"] == 9


@pytest.mark.parametrize(("made", "typed"), [("", "--resume --steps 14"), ("sha256:1", "LEARN_ARGS='--resume --steps 14' make learn")])
def test_a_finished_run_that_is_resumed_is_said_to_be_complete_and_no_server_is_asked(
    stage: Stage, tmp_path: Path, made: str, typed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(image.MARK, made)
    whole = learn(asked(), stage.where(tmp_path), None, FakeReporter())  # type: ignore[arg-type]
    resumed, reporter = open_resumed(tmp_path, "last"), FakeReporter()
    nowhere = stage.where(tmp_path, base_url="http://127.0.0.1:1")
    assert learn(settings_of(resumed), nowhere, resumed, reporter) == whole == run_of(tmp_path)  # type: ignore[arg-type]
    assert reporter.said == [f"{resumed.folder.path} is complete with 7 steps: to go on, raise --steps, as in {typed}"]


@pytest.mark.parametrize(("made", "typed"), [("", "--resume"), ("sha256:1", "LEARN_ARGS=--resume make learn")])
def test_a_run_that_ended_early_says_what_goes_on_with_it_where_it_was_started(
    stage: Stage, tmp_path: Path, made: str, typed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(image.MARK, made)
    stage.server.failures["optim_step"] = [BenchError("optim_step: boom")]
    reporter = FakeReporter()
    with pytest.raises(BenchError) as raised:
        learn(asked(), stage.where(tmp_path), None, reporter)  # type: ignore[arg-type]
    assert str(raised.value).endswith(f"\nGo on from the last checkpoint with {typed}.")
    assert reporter.said[-1].endswith(f": go on with {typed}")


def test_another_model_than_the_runs_is_refused(stage: Stage, tmp_path: Path) -> None:
    learn(asked(), stage.where(tmp_path), None, FakeReporter())  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the run to resume is of Qwen/toy, and --model is Qwen/other"):
        learn(asked(), stage.where(tmp_path, model="Qwen/other"), open_resumed(tmp_path, "last"), FakeReporter())  # type: ignore[arg-type]


def test_a_server_without_the_checkpoint_is_named_before_a_model_is_made(stage: Stage, tmp_path: Path) -> None:
    learn(asked(), stage.where(tmp_path), None, FakeReporter())  # type: ignore[arg-type]
    resumed = open_resumed(tmp_path, "last")
    with (
        http_server({**HEALTHY, "/api/v1/weights_info": json_answer('{"detail": "Model not found"}', 404)}) as other,
        pytest.raises(UnsupportedError, match="does not have the run's checkpoint tinker://model0/weights/step-000007"),
    ):
        learn(asked(steps=9), stage.where(tmp_path, base_url=other), resumed, FakeReporter())  # type: ignore[arg-type]
    assert len(stage.requests) == 1


def command(tmp_path: Path, stage: Stage, *arguments: str) -> Any:
    given = ["--base-url", stage.url, "--results", str(tmp_path), "--task", "arithmetic", *arguments]
    return CliRunner().invoke(learn_command, given)


SMALL = ("--groups", "2", "--group-size", "4", "--test-problems", "5")


def test_the_command_takes_a_tasks_defaults_and_says_what_was_reached(stage: Stage, tmp_path: Path) -> None:
    done = command(tmp_path, stage, *SMALL, "--steps", "3")
    assert done.exit_code == 0, done.output
    settings = run_of(tmp_path)["settings"]
    assert (settings["max_tokens"], settings["learning_rate"], settings["clip"], settings["path"]) == (24, 4e-4, "paper", "fused")
    assert "After 3 steps, " in done.output and "of 5 held-out problems of arithmetic are right." in done.output


def test_resume_keeps_the_runs_settings_and_refuses_others(stage: Stage, tmp_path: Path) -> None:
    assert command(tmp_path, stage, *SMALL, "--steps", "2").exit_code == 0
    refused = command(tmp_path, stage, "--resume", "--groups", "3")
    assert isinstance(refused.exception, InputError)
    assert str(refused.exception).startswith("the run was started with --groups 2 and cannot go on with 3.")
    assert command(tmp_path, stage, "--resume", "--steps", "4").exit_code == 0
    assert steps_of(tmp_path) == [0, 1, 2, 3]
    assert run_of(tmp_path)["settings"]["groups"] == 2


def test_resume_by_name_goes_on_with_that_run(stage: Stage, tmp_path: Path) -> None:
    assert command(tmp_path, stage, *SMALL, "--steps", "2").exit_code == 0
    first = json.loads((tmp_path / "last_learn.json").read_text())["run"]
    assert command(tmp_path, stage, *SMALL, "--steps", "1").exit_code == 0
    assert command(tmp_path, stage, "--resume", first, "--steps", "3").exit_code == 0
    assert json.loads((tmp_path / "last_learn.json").read_text())["run"] == first
    assert steps_of(tmp_path) == [0, 1, 2]


def test_tensorboard_without_its_package_is_refused_before_anything_starts(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    refused = command(tmp_path, stage, "--tensorboard", str(tmp_path / "tb"))
    assert isinstance(refused.exception, InputError) and "needs the package tensorboardX" in str(refused.exception)
    assert stage.requests == []


def test_a_rows_counts_are_written_with_their_nouns() -> None:
    row = {"step": 2, "env/all/correct": 0.5, "groups/skipped": 1, "loss/clip_fraction": 0.25, "env/all/ac_tokens_per_turn": 1.2}
    told = "step 2: 50.0 % right, 1 group without signal, 25% clipped, 1 token an answer, 3.0 s"
    assert run._line(row | {"time/total": 3.04}) == told
    assert "0 groups without signal, 12 tokens an answer" in run._line(
        row | {"time/total": 3.0, "groups/skipped": 0, "loss/clip_fraction": 0.0, "env/all/ac_tokens_per_turn": 12.4}
    )
