"""The loop against a server that can be taught: what it sends, what it writes, and that no moment to die at loses or doubles a row."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench.errors import BenchError, ServerGoneError, UnsupportedError
from bench.learn.checkpoints import Checkpoints
from bench.learn.loop import Learner
from bench.learn.record import Checkpoint, RunFolder
from bench.learn.reference import Reference
from bench.learn.sampling import Sampling
from bench.learn.settings import LearnSettings
from bench.paths import Native, TwoPass
from tests.bench.learn.fakes import Crash, Killed, LetterTokenizer, TeachableServer, sevens

STEPS = 7


def settings_of(**changes: Any) -> LearnSettings:
    values: dict[str, Any] = {
        "task": "arithmetic",
        "path": "fused",
        "steps": STEPS,
        "groups": 2,
        "group_size": 4,
        "updates_per_batch": 1,
        "max_tokens": 4,
        "learning_rate": 0.1,
        "lora_rank": 8,
        "clip": "paper",
        "divide_by_stdev": False,
        "test_every": 3,
        "test_problems": 5,
        "checkpoint_every": 2,
        "seed": 3,
        "data": None,
        "tokenizer": None,
    }
    return LearnSettings(**values | changes)


class TickingFolder(RunFolder):
    """A folder whose writes are moments to die at, too: before and after each."""

    crash: Crash = Crash()

    def append(self, row: Any) -> None:
        self.crash.tick("before the row")
        super().append(row)
        self.crash.tick("after the row")

    def write_checkpoint(self, checkpoint: Checkpoint) -> None:
        self.crash.tick("before the checkpoint's record")
        super().write_checkpoint(checkpoint)
        self.crash.tick("after the checkpoint's record")


def learner_of(
    server: TeachableServer, folder: RunFolder, settings: LearnSettings, state: str | None = None, **changes: Any
) -> tuple[Learner, list[str]]:
    said: list[str] = []

    def wait(future: Any, _stage: str) -> Any:
        return future.result(timeout=600.0)

    clock = server.time.clock()
    client = server.client(state)
    probe = SimpleNamespace(
        delete=lambda path: server.states.pop("tinker://" + path.split("training_runs/")[1].replace("checkpoints/", ""))
    )
    values: dict[str, Any] = {
        "client": client,
        "settings": settings,
        "sampling": Sampling(sevens(), LetterTokenizer(), settings.max_tokens, settings.seed, wait, said.append, clock),  # type: ignore[arg-type]
        "reference": Reference(None, "toy", wait, said.append, _refused=True),  # type: ignore[arg-type]
        "path": Native(),
        "backend": "fsdp",
        "folder": folder,
        "checkpoints": Checkpoints(client, folder, probe, wait, said.append, [state] if state else []),  # type: ignore[arg-type]
        "wait": wait,
        "stop": SimpleNamespace(requested=False),
        "clock": clock,
        "sink": lambda row: None,
    }
    return Learner(**values | changes), said


def rows_without_times(folder: RunFolder) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if not key.startswith("time/")} for row in folder.rows()]


def unkilled(tmp_path: Path, settings: LearnSettings) -> tuple[list[dict[str, Any]], TeachableServer]:
    folder = RunFolder(tmp_path / "unkilled")
    folder.path.mkdir()
    server = TeachableServer()
    learner, _ = learner_of(server, folder, settings)
    assert learner.run(0, 0.0) == settings.steps
    return rows_without_times(folder), server


def test_every_step_has_a_row_and_accuracy_rises_with_skill(tmp_path: Path) -> None:
    rows, server = unkilled(tmp_path, settings_of(steps=30, groups=8))
    assert [row["step"] for row in rows] == list(range(30))
    assert rows[-1]["progress/done_frac"] == 1.0
    first, last = (sum(row["env/all/correct"] for row in part) / 5 for part in (rows[:5], rows[-5:]))
    assert last > first + 0.1
    tested = [row["step"] for row in rows if "test/env/all/correct" in row]
    assert tested == list(range(0, 30, 3))
    assert {row["test/env/all/count"] for row in rows if row["step"] in tested} == {5}
    assert server.most_in_flight == 8  # all groups at once


def test_the_rows_times_sum_to_the_step_and_leave_out_none(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    server = TeachableServer()
    learner, _ = learner_of(server, folder, settings_of())
    learner.run(0, 100.0)
    elapsed_s = 100.0
    for row in folder.rows():
        parts = [row[f"time/{phase}"] for phase in ("sync", "test", "sample", "train", "checkpoint", "client")]
        assert sum(parts) == pytest.approx(row["time/total"])
        elapsed_s += row["time/total"]
        assert row["time/elapsed"] == pytest.approx(elapsed_s)
        # By the fake clock: 0.5 s to sync, 4 to sample, 3 in training, 2 for a state.
        trained = row["optim/grad_norm"] is not None
        saved = row["step"] in (1, 3, 5, 6)
        assert parts[0] == 0.5 and parts[2] == 4.0 and parts[3] == 3.0 * trained and parts[4] == 2.0 * saved and parts[5] == 0.0
        assert parts[1] == (4.0 if row["step"] % 3 == 0 else 0.0)


def test_the_final_test_is_of_the_model_after_its_last_update(tmp_path: Path) -> None:
    server = TeachableServer()
    learner, _ = learner_of(server, RunFolder(tmp_path), settings_of())
    learner.run(0, 0.0)
    client: Any = learner.client
    client.skill = 1.0
    assert learner.test() == {"test/env/all/correct": 1.0, "test/env/all/count": 5}


def moments(tmp_path: Path, settings: LearnSettings) -> int:
    """How many moments a whole run has."""
    server = TeachableServer()
    folder = TickingFolder(tmp_path / "counted")
    folder.path.mkdir()
    object.__setattr__(folder, "crash", server.crash)
    learner_of(server, folder, settings)[0].run(0, 0.0)
    return len(server.crash.happened)


def go_on(server: TeachableServer, folder: RunFolder, settings: LearnSettings) -> None:
    """What --resume does: the rows from the checkpoint on are cut, a new model is made of the saved state."""
    start = folder.read_checkpoint() or Checkpoint(0, "", 0.0)
    folder.cut(start.next_step)
    learner_of(server, folder, settings, start.state or None)[0].run(start.next_step, start.elapsed_s)


def test_killed_at_any_moment_and_resumed_the_rows_are_those_of_an_unkilled_run(tmp_path: Path) -> None:
    settings = settings_of()
    wanted, _ = unkilled(tmp_path, settings)
    count = moments(tmp_path, settings)
    assert count > 60
    for at in range(count):
        server = TeachableServer(crash=Crash(at))
        folder = TickingFolder(tmp_path / f"killed-{at}")
        folder.path.mkdir()
        object.__setattr__(folder, "crash", server.crash)
        with pytest.raises(Killed):
            learner_of(server, folder, settings)[0].run(0, 0.0)
        with folder.metrics.open("a") as file:
            file.write('{"step": 99, "env/all')
        server.crash.at = None
        go_on(server, RunFolder(folder.path), settings)
        assert rows_without_times(folder) == wanted, f"killed at {at}: {server.crash.happened[at]}"


def test_killed_twice_and_resumed_twice(tmp_path: Path) -> None:
    settings = settings_of()
    wanted, _ = unkilled(tmp_path, settings)
    server = TeachableServer()
    folder = TickingFolder(tmp_path / "twice")
    folder.path.mkdir()
    object.__setattr__(folder, "crash", server.crash)
    for at in (25, 60):
        server.crash.at = at
        with pytest.raises(Killed):
            go_on(server, folder, settings)
    server.crash.at = None
    go_on(server, folder, settings)
    assert rows_without_times(folder) == wanted


def test_only_the_last_state_stays_on_the_server(tmp_path: Path) -> None:
    _, server = unkilled(tmp_path, settings_of())
    assert list(server.states) == ["tinker://model0/weights/step-000007"]


def test_asked_to_stop_it_ends_after_the_step_in_hand_with_a_checkpoint(tmp_path: Path) -> None:
    folder, stop = RunFolder(tmp_path), SimpleNamespace(requested=False)
    learner, _ = learner_of(TeachableServer(), folder, settings_of(checkpoint_every=0), stop=stop)
    learner.sink = lambda row: setattr(stop, "requested", row["step"] == 2)
    assert learner.run(0, 0.0) == 3
    assert [row["step"] for row in folder.rows()] == [0, 1, 2]
    checkpoint = folder.read_checkpoint()
    assert checkpoint is not None and checkpoint.next_step == 3


def without_signal(server: TeachableServer, folder: RunFolder) -> tuple[Learner, Any]:
    learner, _ = learner_of(server, folder, settings_of(steps=2))
    client: Any = learner.client
    client.skill = 1.0
    return learner, client


def test_without_a_group_that_teaches_nothing_is_trained_and_the_row_is_written(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    learner, client = without_signal(TeachableServer(), folder)
    assert learner.run(0, 0.0) == 2
    assert client.sent == [] and client.updates == 0
    first, second = folder.rows()
    assert (first["groups/skipped"], first["env/all/correct"], first["env/all/by_group/frac_all_good"]) == (2, 1.0, 1.0)
    assert first["loss/clip_fraction"] is None and first["optim/grad_norm"] is None
    assert second["step"] == 1


def test_only_response_tokens_have_weight_and_the_paths_send_what_they_should(tmp_path: Path) -> None:
    for path, losses in ((Native(), {"gspo"}), (TwoPass(), {"cross_entropy", "importance_sampling"})):
        folder = RunFolder(tmp_path / path.name)
        folder.path.mkdir()
        learner, _ = learner_of(TeachableServer(), folder, settings_of(), path=path)
        learner.run(0, 0.0)
        client: Any = learner.client
        assert {loss for loss, _ in client.sent} == losses
        for _, data in client.sent:
            for datum in data:
                weights = list(datum.loss_fn_inputs["weights"].to_numpy())
                assert weights == [0.0] * (len(weights) - 2) + [1.0, 1.0]  # "7." and "no" are two letters each


def test_several_updates_take_an_optimizer_step_each(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    server = TeachableServer()
    learner, _ = learner_of(server, folder, settings_of(steps=1, groups=8, updates_per_batch=4))
    learner.run(0, 0.0)
    mixed = 8 - folder.rows()[0]["groups/skipped"]
    client: Any = learner.client
    assert client.updates == min(4, mixed) == server.crash.happened.count("optim_step")


def test_seeds_of_groups_and_steps_do_not_meet(tmp_path: Path) -> None:
    _, server = unkilled(tmp_path, settings_of(steps=20, test_every=0))
    drawn = [seed + index for seed, count in server.asked for index in range(count)]
    assert len(drawn) == 20 * 2 * 4 == len(set(drawn))
    assert all(0 <= seed < 2**31 for seed in drawn)


@pytest.mark.parametrize(
    ("error", "kind"),
    [(BenchError("forward_backward: the server failed: out of memory"), BenchError), (ServerGoneError("gone"), ServerGoneError)],
)
def test_a_training_request_that_fails_names_the_step_and_is_not_sent_again(
    tmp_path: Path, error: BenchError, kind: type[BenchError]
) -> None:
    folder, server = RunFolder(tmp_path), TeachableServer(failures={"forward_backward": [error]})
    learner, _ = learner_of(server, folder, settings_of())
    with pytest.raises(kind) as raised:
        learner.run(0, 0.0)
    assert str(raised.value) == f"step 0: {error}\nGo on from the last checkpoint with --resume."
    assert raised.value.exit_code == kind.exit_code
    assert server.crash.happened.count("forward_backward") == 1


def test_a_loss_that_the_server_lacks_is_not_worth_going_on(tmp_path: Path) -> None:
    server = TeachableServer(failures={"forward_backward": [UnsupportedError("the server's JAX backend has no loss 'gspo'")]})
    with pytest.raises(UnsupportedError) as raised:
        learner_of(server, RunFolder(tmp_path), settings_of())[0].run(0, 0.0)
    assert str(raised.value) == (
        "the server's JAX backend has no loss 'gspo'.\n"
        "Learn over the round trip with --path two-pass, or use a server whose backend has it."
    )


def sampled_again(tmp_path: Path, failures: list[BaseException]) -> tuple[Callable[[], int], TeachableServer, list[str]]:
    server = TeachableServer(failures={"sample": failures})
    learner, said = learner_of(server, RunFolder(tmp_path), settings_of(steps=1, test_every=0))
    return lambda: learner.run(0, 0.0), server, said


def test_a_sampling_request_that_fails_is_sent_again_with_its_seed(tmp_path: Path) -> None:
    run, server, said = sampled_again(tmp_path, [BenchError("sampling group 1 of 2: the server failed: busy"), BenchError("busy again")])
    assert run() == 1
    seeds = [seed for seed, _ in server.asked]
    assert len(seeds) == 4 and len(set(seeds)) == 2
    assert "sampling group 1 of 2: the server failed: busy Trying again (2 of 4)." in said
    assert server.time.pauses == [1.0, 1.0]


def test_a_sampling_request_that_fails_every_time_ends_the_run(tmp_path: Path) -> None:
    run, server, _ = sampled_again(tmp_path, [BenchError(f"failure {number}") for number in range(9)])
    with pytest.raises(BenchError, match=r"step 0: failure \d\nGo on from the last checkpoint"):
        run()
    assert server.crash.happened.count("sample") == 2 + 3


def test_a_server_that_is_gone_is_not_asked_again(tmp_path: Path) -> None:
    run, server, _ = sampled_again(tmp_path, [ServerGoneError("it died")])
    with pytest.raises(ServerGoneError, match="step 0: it died"):
        run()
    assert server.crash.happened.count("sample") == 2


def test_rows_hold_finite_numbers_or_null(tmp_path: Path) -> None:
    unkilled(tmp_path, settings_of())

    def refuse(text: str) -> None:
        raise AssertionError(text)

    for line in (tmp_path / "unkilled" / "metrics.jsonl").read_text().splitlines():
        assert all(value is None or isinstance(value, int | float) for value in json.loads(line, parse_constant=refuse).values())
