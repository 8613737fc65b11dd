"""Which rows a sweep takes, what it keeps after each, and where it goes on; no process is started: `take` is scripted."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench import batch as batches
from bench.errors import BenchError, InputError, UnsupportedError
from bench.sweep import document as files
from bench.sweep import loop
from bench.sweep.loop import Looper, Options, check_any
from bench.sweep.plan import PlannedRow
from bench.sweep.preset import write_preset
from bench.sweep.take import Ending, Place
from tests.bench.fakes import SMALL_BATCH
from tests.bench.sweep.endings import failed, measured

pytestmark = pytest.mark.slow

PLAN = tuple(PlannedRow(label, {"size": size}, steps) for label, size, steps in (("stock", 1, 2), ("four", 4, None), ("sixteen", 16, None)))
FUSED_S = {1: 8.0, 4: 2.0, 16: 0.5}


class Stage:
    """A results folder, and servers whose rows end as `endings` says by their size, else well; `taken` has the sizes in order."""

    def __init__(self, results: Path) -> None:
        self.results = results
        self.servers: Any = SimpleNamespace(identity="fake --model m", client_url="http://s:1", results_seen="/seen")
        self.endings: dict[int, Callable[[], Ending]] = {}
        self.taken: list[int] = []
        self.arguments: list[Sequence[str]] = []
        self.limits_s: list[float] = []
        self.now_s = 0.0
        self.said: list[str] = []
        self.gpu: str | None = "H200"

    def take(self, _servers: Any, config: dict[str, Any], arguments: Sequence[str], place: Place, limit_s: float) -> Ending:
        size = config["size"]
        self.taken.append(size)
        self.arguments.append(arguments)
        self.limits_s.append(limit_s)
        ending = self.endings.get(size, lambda: measured([FUSED_S[size]] * 3, [2 * FUSED_S[size]] * 3, 2.0 * size, self.gpu))()
        self.now_s += ending.wall_s
        if ending.document is None:
            return ending
        assert ending.document["batch"] is not None
        ending.document["batch"] |= SMALL_BATCH.facts()
        path = place.results / "runs" / f"{size}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(ending.document))
        batches.save(SMALL_BATCH, place.results / "batches" / f"{SMALL_BATCH.sha256[:12]}.json")
        return replace(ending, document_file=path)

    def sweep(self, plan: Sequence[PlannedRow] = PLAN, **changed: Any) -> dict[str, Any]:
        options = Options(self.results, None, 4, 1, (), 900.0, None, None, False)
        self.taken.clear()
        return Looper(plan, self.servers, replace(options, **changed), self.said.append).run()

    def file(self) -> Any:
        return json.loads((self.results / "last_sweep.json").read_text())


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    made = Stage(tmp_path / "results")
    monkeypatch.setattr(loop, "take", made.take)
    monkeypatch.setattr(loop.time, "monotonic", lambda: made.now_s)
    return made


def test_every_row_is_taken_and_the_fastest_is_the_best(stage: Stage) -> None:
    document = stage.sweep()
    assert stage.taken == [1, 4, 16]
    assert document == stage.file()
    assert (document["schema"], document["kind"], document["status"], document["reason"]) == (1, "gspo-bench-sweep", "complete", None)
    assert [row["label"] for row in document["rows"]] == ["stock", "four", "sixteen"]
    assert document["best"]["label"] == "sixteen"
    assert (document["best"]["native_1pass_s"], document["best"]["speedup_vs_first"]) == (0.5, 16.0)
    assert (document["gpu"], document["backend"], document["weights"]) == ("H200", "jax", "random")
    assert document["batch"] == {"sha256": SMALL_BATCH.sha256, "sequences": 2, "target_tokens": SMALL_BATCH.target_tokens}
    assert document["environment"]["client"] == {"python": "3"}


def test_a_second_sweep_in_the_same_folder_is_refused_while_the_first_takes_its_rows(stage: Stage) -> None:
    second = Stage(stage.results)

    def meanwhile() -> Ending:
        with pytest.raises(InputError, match=r"another sweep writes to .*results\.\nWait for its end, or name another"):
            second.sweep()
        return measured([2.0] * 3, [4.0] * 3, 8.0, "H200")

    stage.endings[4] = meanwhile
    assert stage.sweep()["status"] == "complete"
    assert second.taken == []
    assert second.sweep(again=True)["status"] == "complete"


def test_a_row_whose_steps_overlap_the_bests_is_named_beside_it(stage: Stage) -> None:
    assert stage.sweep()["best"]["not_told_apart"] == []
    stage.endings[4] = lambda: measured([0.9, 0.5, 0.7], [2.0] * 3, 8.0, "H200")
    assert stage.sweep(again=True)["best"]["not_told_apart"] == ["four"]
    assert stage.file()["best"]["not_told_apart"] == ["four"]


def test_the_best_is_a_preset_file_with_a_reason_for_every_setting(stage: Stage) -> None:
    document = stage.sweep()
    preset = json.loads((stage.results / document["best"]["preset_file"]).read_text())
    assert preset["backend_config"] == document["best"]["backend_config"] == {"under": 1, "size": 16}
    assert preset["gpu_memory_gib"] == 32
    assert preset["why"] == {
        "size": "0.500 s a fused step, against 2.000 s with 4 and all else the same (four)",
        "under": "as on every server of the sweep",
    }
    assert preset["description"].endswith("; 0.500 s a fused step, the fastest of 3 settings that ran, 16.0 times as fast as stock.")


def described(stage: Stage) -> str:
    preset = json.loads((stage.results / stage.file()["best"]["preset_file"]).read_text())
    return str(preset["description"]).partition(" on H200: ")[2]


def test_a_preset_is_called_the_fastest_of_what_ran_and_names_what_is_not_told_apart_from_it(stage: Stage) -> None:
    stage.sweep(PLAN[:1])
    assert described(stage) == "2 sequences, 8 target tokens a step; 8.000 s a fused step, the only setting that ran."
    stage.endings[4] = lambda: measured([0.9, 0.5, 0.7], [2.0] * 3, 8.0, "H200")
    stage.sweep(again=True)
    assert described(stage).endswith(
        "; 0.500 s a fused step, the fastest of 3 settings that ran, 16.0 times as fast as stock; "
        "not told apart from it, for step times overlap: four."
    )
    stage.sweep(again=True, memory_limit_gib=20.0)
    assert described(stage).endswith(
        "; 0.700 s a fused step, the fastest of 2 settings that ran within 20 GiB, 11.4 times as fast as stock."
    )


def test_a_presets_counts_have_their_commas_and_nouns(tmp_path: Path) -> None:
    def description(batch: dict[str, int] | None) -> str:
        row = {"backend_config": {}, "peak_memory_bytes": None}
        path = write_preset(tmp_path, row, {}, {"model": "m", "gpu": "L4", "batch": batch}, "it is fast", {})
        return str(json.loads(path.read_text())["description"])

    assert description({"sequences": 16, "target_tokens": 1956}) == (
        "The fastest of a sweep for m on L4: 16 sequences, 1,956 target tokens a step; it is fast."
    )
    assert description({"sequences": 1, "target_tokens": 1}) == (
        "The fastest of a sweep for m on L4: 1 sequence, 1 target token a step; it is fast."
    )
    assert description(None) == "The fastest of a sweep for m on L4: it is fast."


def test_the_first_row_samples_and_the_others_take_the_same_batch(stage: Stage) -> None:
    document = stage.sweep()
    first, second, third = stage.arguments
    assert "--batch" not in first
    own = f"/seen/sweep/batches/{SMALL_BATCH.sha256[:12]}.json"
    assert second[-2:] == third[-2:] == ["--batch", own]
    assert [row["sampled"] for row in document["rows"]] == [True, False, False]


def test_a_given_batch_is_laid_where_every_client_sees_it(stage: Stage, tmp_path: Path) -> None:
    batches.save(SMALL_BATCH, tmp_path / "mine.json")
    document = stage.sweep(batch=tmp_path / "mine.json")
    assert all("--batch" in arguments for arguments in stage.arguments)
    assert batches.load(stage.results / "sweep" / "batches" / f"{SMALL_BATCH.sha256[:12]}.json") == SMALL_BATCH
    assert not any(row["sampled"] for row in document["rows"])


def test_a_row_may_have_steps_of_its_own(stage: Stage) -> None:
    stage.sweep(steps=7, run_arguments=("--lora-rank", "8"))
    steps = [arguments[list(arguments).index("--steps") + 1] for arguments in stage.arguments]
    assert steps == ["2", "7", "7"]
    assert all("--lora-rank" in arguments and "/seen/sweep" in arguments for arguments in stage.arguments)


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        (failed(client_text="bench: CUDA out of memory. Tried to allocate 9 GiB\n"), "out_of_memory"),
        (failed(server_code=1, server_text="KeyError: 1"), "crashed"),
        (failed(out_of_time=True), "timed_out"),
        (failed(server_code=2, server_text="error: no setting size.\n"), "refused"),
    ],
)
def test_a_row_that_fails_says_so_and_the_sweep_goes_on(stage: Stage, ending: Ending, status: str) -> None:
    stage.endings[4] = lambda: ending
    document = stage.sweep()
    assert [row["status"] for row in document["rows"]] == ["ok", status, "ok"]
    assert document["rows"][1]["reason"]
    assert document["best"]["label"] == "sixteen"
    check_any(document)


def test_where_the_first_row_fails_the_next_one_samples(stage: Stage) -> None:
    stage.endings[1] = lambda: failed(server_code=1, server_text="KeyError: 1")
    document = stage.sweep()
    assert "--batch" not in stage.arguments[1] and "--batch" in stage.arguments[2]
    assert (document["best"]["label"], document["best"]["speedup_vs_first"]) == ("sixteen", None)


def test_a_finished_row_is_not_taken_again_and_one_that_crashed_or_was_too_slow_is(stage: Stage) -> None:
    stage.endings = {4: lambda: failed(server_code=1), 16: lambda: failed(client_text="bench: CUDA out of memory\n")}
    stage.sweep()
    stage.endings = {}
    document = stage.sweep()
    assert stage.taken == [4]
    assert [row["status"] for row in document["rows"]] == ["ok", "ok", "out_of_memory"]
    assert "--batch" in stage.arguments[-1]
    assert "taken before: stock, sixteen (--again takes them again)" in stage.said


def test_a_complete_sweep_takes_nothing_again_unless_it_is_told_to(stage: Stage) -> None:
    first = stage.sweep()
    assert stage.sweep() == first
    assert stage.taken == []
    stage.sweep(again=True)
    assert stage.taken == [1, 4, 16]


def test_settings_that_stand_in_another_order_are_the_same_row(stage: Stage) -> None:
    stage.sweep([PlannedRow("a", {"size": 4, "more": 1}, None)])
    stage.sweep([PlannedRow("b", {"more": 1, "size": 4}, None)])
    assert stage.taken == []


def test_rows_of_an_earlier_plan_are_kept_behind_the_new_ones(stage: Stage) -> None:
    stage.sweep(PLAN[:2])
    document = stage.sweep(PLAN[2:])
    assert [row["label"] for row in document["rows"]] == ["sixteen", "stock", "four"]


def test_another_batch_or_server_or_client_flag_starts_anew_and_the_earlier_sweep_stays(stage: Stage, tmp_path: Path) -> None:
    stage.sweep(PLAN[:1])
    other = replace(SMALL_BATCH, sequences=SMALL_BATCH.sequences[:1])
    batches.save(other, tmp_path / "other.json")
    stage.sweep(PLAN[:1], batch=tmp_path / "other.json")
    assert stage.taken == [1]
    stage.sweep(PLAN[:1], run_arguments=("--lora-rank", "8"))
    assert stage.taken == [1]
    stage.servers.identity = "fake --model other"
    stage.sweep(PLAN[:1])
    assert stage.taken == [1]
    assert sum("starting anew" in said for said in stage.said) == 3
    assert stage.results.joinpath("runs").is_dir()


def test_the_file_names_the_server_and_the_clients_flags_without_the_folders_of_this_machine(stage: Stage) -> None:
    stage.servers.identity = "/opt/x/python ./docker/serve.py --model /models/m/ --backend jax"
    document = stage.sweep(PLAN[:1], run_arguments=("--lora-rank", "8"))
    assert document["server"] == "python serve.py --model m --backend jax; bench run --lora-rank 8"
    stage.servers.identity = "/opt/x/python ./docker/serve.py --model /models/other/m --backend jax"
    stage.sweep(PLAN[:1], run_arguments=("--lora-rank", "8"))
    assert stage.taken == [1]


def test_rows_of_another_gpu_are_taken_again_on_this_one(stage: Stage) -> None:
    stage.gpu = "L4"
    stage.sweep(PLAN[:2])
    stage.gpu = "H200"
    document = stage.sweep()
    assert sorted(stage.taken) == [1, 4, 16]
    assert document["gpu"] == "H200" and len(document["rows"]) == 3


def test_a_server_that_does_not_tell_its_gpu_or_tells_another_one_each_time_loses_no_row_and_takes_none_twice(stage: Stage) -> None:
    stage.endings[4] = lambda: measured([2.0])
    stage.endings[16] = lambda: measured([2.0], gpu="L4")
    document = stage.sweep()
    assert stage.taken == [1, 4, 16]
    assert len(document["rows"]) == 3


def test_a_batch_that_is_not_there_any_more_starts_anew(stage: Stage) -> None:
    stage.sweep(PLAN[:2])
    for path in (stage.results / "sweep" / "batches").iterdir():
        path.unlink()
    stage.sweep()
    assert stage.taken == [1, 4, 16]
    assert "--batch" not in stage.arguments[2]


def test_what_was_taken_is_on_disk_after_every_row(stage: Stage) -> None:
    seen: list[tuple[int, str]] = []

    def look() -> Ending:
        seen.append((len(stage.file()["rows"]), stage.file()["status"]))
        return measured([1.0])

    stage.endings = {4: look, 16: look}
    stage.sweep()
    assert seen == [(1, "partial"), (2, "partial")]


def interrupt() -> Ending:
    raise KeyboardInterrupt


def test_an_interrupt_keeps_the_rows_before_and_the_next_sweep_goes_on(stage: Stage) -> None:
    stage.endings[4] = interrupt
    with pytest.raises(KeyboardInterrupt):
        stage.sweep()
    assert (stage.file()["status"], stage.file()["reason"]) == ("partial", "ended early: interrupted")
    assert [row["label"] for row in stage.file()["rows"]] == ["stock"]
    stage.endings = {}
    assert stage.sweep()["status"] == "complete"
    assert stage.taken == [4, 16]


def test_a_sweep_that_is_taken_again_says_where_the_one_before_it_stays_and_how_it_goes_on(stage: Stage) -> None:
    stage.sweep()
    earlier = stage.file() | {"created_at": "2026-01-02T03:04:05Z"}
    (own,) = (stage.results / "runs").iterdir()
    kept = own.with_name(f"20260102T030405Z{own.name[16:]}")
    files.save(earlier, stage.results, kept.name)
    stage.said.clear()
    stage.endings[4] = interrupt
    with pytest.raises(KeyboardInterrupt):
        stage.sweep(again=True)
    last = stage.results / "last_sweep.json"
    assert stage.said[0] == f"starting anew for --again; the rows in last_sweep.json stay in {kept}"
    assert (
        stage.said[-1] == f"kept 1 row in {last}; without --again the same command goes on from there; the sweep before it stays in {kept}"
    )
    assert json.loads(kept.read_text()) == earlier and len(stage.file()["rows"]) == 1
    stage.endings = {}
    stage.sweep()
    assert stage.taken == [4, 16]
    assert "; without --again the same command takes what is missing: four" in stage.sweep(time_budget_s=46.0, again=True)["reason"]


def test_a_file_that_is_no_sweeps_does_not_hinder_a_sweep_that_starts_anew(stage: Stage) -> None:
    stage.results.mkdir()
    (stage.results / "last_sweep.json").write_text("{}")
    assert stage.sweep(again=True)["status"] == "complete"


def test_what_no_setting_can_mend_ends_the_sweep_with_the_clients_words(stage: Stage) -> None:
    stage.endings[1] = lambda: failed(client_code=4, client_text="bench: the server's JAX backend has no loss 'gspo'\n")
    with pytest.raises(UnsupportedError, match="no loss 'gspo'"):
        stage.sweep()
    assert stage.taken == [1]
    assert not (stage.results / "last_sweep.json").exists()


def test_rows_that_do_not_fit_the_time_budget_are_left_for_the_next_sweep(stage: Stage) -> None:
    # 30 s a row; 15 s are kept for the end, then a quarter of a row, 7.5 s: of 80 s two rows fit, and 12.5 s are left, less than any took.
    document = stage.sweep(time_budget_s=80.0)
    assert stage.taken == [1, 4]
    assert document["status"] == "partial"
    assert document["reason"] == (
        "60 of the 80 s of the time budget were used, too little is left for another row; the same command takes what is missing: sixteen"
    )
    assert stage.limits_s == [65.0, 42.5]
    stage.now_s = 0.0
    assert stage.sweep(time_budget_s=80.0)["status"] == "complete"
    assert stage.taken == [16]


def test_of_short_rows_little_of_the_budget_is_kept_for_the_end(stage: Stage) -> None:
    for size in (1, 4, 16):
        stage.endings[size] = lambda: replace(measured([1.0] * 3, [2.0] * 3, 8.0, "H200"), wall_s=16.0)
    # 16 + 16 s are used of 52, and 4 kept for the end: a third row fits exactly there.
    assert stage.sweep(time_budget_s=53.0)["status"] == "complete"
    assert stage.limits_s == [53.0 - 13.25, 53.0 - 16.0 - 4.0, 53.0 - 32.0 - 4.0]


def test_a_budget_that_is_too_short_for_any_row_says_so(stage: Stage) -> None:
    stage.endings[1] = lambda: failed(out_of_time=True)
    assert stage.sweep(time_budget_s=20.0)["reason"].endswith(
        "and no row came to its end; give more time to the same command, which takes what is missing: stock, four, sixteen"
    )
    assert stage.limits_s == [15.0]


def all_refused(stage: Stage) -> None:
    for size in (1, 4, 16):
        stage.endings[size] = lambda: failed(server_code=2)


def test_a_sweep_of_which_no_row_went_well_does_not_take_a_good_ones_place(stage: Stage) -> None:
    good = stage.sweep()
    all_refused(stage)
    stage.servers.identity = "fake --model m --gpus 7"
    refused = stage.sweep()
    assert {row["status"] for row in refused["rows"]}.isdisjoint({"ok"}) and len(refused["rows"]) == 3
    assert stage.file() == good
    assert refused in [json.loads(path.read_text()) for path in (stage.results / "runs").iterdir()]
    stage.endings, stage.servers.identity = {}, "fake --model m"
    assert stage.sweep() == good and stage.taken == []


def test_who_watches_the_last_file_is_not_told_of_a_sweep_that_takes_no_place(stage: Stage) -> None:
    told: list[Any] = []
    options = Options(stage.results, None, 4, 1, (), 900.0, None, None, False)
    Looper(PLAN, stage.servers, options, stage.said.append, told.append).run()
    assert told[-1] == stage.file()
    all_refused(stage)
    stage.servers.identity = "fake --model m --gpus 7"
    told.clear()
    Looper(PLAN, stage.servers, options, stage.said.append, told.append).run()
    assert told == []


def test_an_interrupted_sweep_without_a_good_row_says_that_the_one_before_stays(stage: Stage) -> None:
    good = stage.sweep()
    all_refused(stage)
    stage.servers.identity = "fake --model m --gpus 7"
    stage.endings[4] = interrupt
    with pytest.raises(KeyboardInterrupt):
        stage.sweep()
    assert stage.file() == good
    assert stage.said[-1].startswith(f"kept 1 row in {stage.results}/runs/")
    assert stage.said[-1].endswith("; last_sweep.json stays the one before, for no row of this one went well")


def test_a_sweep_of_which_no_row_went_well_is_kept_where_there_is_no_good_one(stage: Stage) -> None:
    all_refused(stage)
    first = stage.sweep()
    assert stage.file() == first and len(first["rows"]) == 3
    assert stage.sweep(again=True) == stage.file()


def test_a_row_that_the_budget_cut_short_is_no_row(stage: Stage) -> None:
    stage.endings[4] = lambda: failed(out_of_time=True)
    document = stage.sweep(time_budget_s=100.0)
    assert [row["label"] for row in document["rows"]] == ["stock"]
    assert document["reason"].endswith("left for another row; the same command takes what is missing: four, sixteen")


def test_the_memory_limit_is_the_bests_alone(stage: Stage) -> None:
    document = stage.sweep(memory_limit_gib=10.0)
    assert document["best"]["label"] == "four"
    assert [row["status"] for row in document["rows"]] == ["ok", "ok", "ok"]
    with pytest.raises(InputError, match="--memory-limit-gib"):
        check_any(stage.sweep(memory_limit_gib=1.0))


def test_a_sweep_without_a_row_that_went_well_has_no_best_and_failed(stage: Stage) -> None:
    stage.endings = {1: lambda: failed(server_code=1), 4: lambda: failed(server_code=2), 16: lambda: failed(server_code=1)}
    document = stage.sweep()
    assert document["best"] is None and document["status"] == "complete"
    with pytest.raises(BenchError, match="no row went well"):
        check_any(document)


NO_LIBRARY = "bench: creating the model: the server at http://s:1 failed: AttributeError: undefined symbol: numa_x\nIts log has the rest.\n"
WORDS = NO_LIBRARY.split("\n")[0].removeprefix("bench: ")


def test_two_rows_in_a_row_that_fail_alike_at_start_up_stop_the_sweep_which_says_why_and_what_was_not_tried(stage: Stage) -> None:
    stage.endings = dict.fromkeys((1, 4), lambda: failed(client_text=NO_LIBRARY))
    document = stage.sweep()
    assert stage.taken == [1, 4]
    assert document == stage.file()
    assert (document["status"], document["not_tried"]) == ("partial", ["sixteen"])
    assert document["reason"] == (
        f"stock and four failed at start-up for the same reason, {WORDS}; not tried: sixteen; "
        "once it is fixed, the same command takes what is missing"
    )
    assert [(row["label"], row["status"], row["reason"]) for row in document["rows"]] == [
        ("stock", "crashed", WORDS),
        ("four", "crashed", WORDS),
    ]
    logs = stage.results / "sweep-logs"
    assert stage.said[1] == f"stock: crashed, after 30 s: {WORDS}. The server's whole log: {logs}/stock.log"
    assert stage.said[3] == f"four: crashed, after 30 s: as stock did. The server's whole log: {logs}/four.log"
    with pytest.raises(BenchError, match=r"^1 row not tried, for the reason above\.\nFix it, then run the same command\.$") as raised:
        check_any(document)
    assert raised.value.exit_code == 1


def test_what_was_not_tried_comes_before_what_failed_once_the_same_command_is_run_again(stage: Stage) -> None:
    stage.endings = dict.fromkeys((1, 4), lambda: failed(client_text=NO_LIBRARY))
    stage.sweep()
    document = stage.sweep()
    assert stage.taken == [16, 1, 4]
    assert (document["status"], document["not_tried"], document["best"]["label"]) == ("complete", [], "sixteen")


def test_what_was_measured_before_a_sweep_stops_stays_in_its_file(stage: Stage) -> None:
    plan = [*PLAN, PlannedRow("sixty-four", {"size": 64}, None)]
    stage.endings = dict.fromkeys((4, 16), lambda: failed(client_text=NO_LIBRARY))
    document = stage.sweep(plan)
    assert stage.taken == [1, 4, 16]
    assert (document["best"]["label"], document["not_tried"]) == ("stock", ["sixty-four"])
    with pytest.raises(BenchError, match="1 row not tried"):
        check_any(stage.file())


@pytest.mark.parametrize(
    "second",
    [
        lambda: failed(client_text="bench: native_1pass: the server at http://s:1 failed: torch.OutOfMemoryError: CUDA out of memory"),
        lambda: failed(server_code=2, server_text="error: no such setting"),
        lambda: failed(client_text="bench: creating the model: the server at http://s:1 failed: KeyError: 'lora'"),
        lambda: failed(server_code=137, server_text="work"),
        lambda: measured([2.0] * 3, [4.0] * 3, 8.0, "H200"),
    ],
    ids=["out-of-memory", "refused", "another-reason", "killed", "well"],
)
def test_rows_that_do_not_fail_alike_one_after_another_do_not_stop_a_sweep(stage: Stage, second: Callable[[], Ending]) -> None:
    stage.endings = {1: lambda: failed(client_text=NO_LIBRARY), 4: second, 16: lambda: failed(client_text=NO_LIBRARY)}
    document = stage.sweep([*PLAN, PlannedRow("last", {"size": 1, "more": 1}, None)])
    # The third and the fourth fail alike, and nothing is left then.
    assert stage.taken == [1, 4, 16, 1]
    assert (document["status"], document["not_tried"]) == ("complete", [])


def test_rows_that_run_out_of_memory_or_are_refused_one_after_another_are_all_taken(stage: Stage) -> None:
    stage.endings = dict.fromkeys((1, 4, 16), lambda: failed(client_text="bench: torch.OutOfMemoryError: CUDA out of memory"))
    assert stage.sweep()["status"] == "complete" and stage.taken == [1, 4, 16]
    all_refused(stage)
    assert stage.sweep(again=True)["status"] == "complete" and stage.taken == [1, 4, 16]


def test_why_rows_of_before_failed_is_said_as_they_are_passed_over(stage: Stage) -> None:
    stage.endings = {4: lambda: failed(server_code=2, server_text="error: no such setting")}
    stage.sweep()
    stage.said.clear()
    stage.sweep()
    assert stage.said == ["taken before: stock, four, sixteen (--again takes them again)", "four: refused: no such setting"]


def test_the_roofline_is_the_best_rows(stage: Stage) -> None:
    ending = measured([0.5], [1.0])
    assert ending.document is not None
    ending.document["roofline"] = {"device": "H200"}
    stage.endings[16] = lambda: ending
    assert stage.sweep()["roofline"] == {"device": "H200"}


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{",
        '{"kind": "gspo-bench", "schema": 1}',
        '{"kind": "gspo-bench-sweep", "schema": 1, "rows": [{"status": "ok"}]}',
        '{"kind": "gspo-bench-sweep", "schema": 1, "rows": [{"status": "ok", "backend_config": {}, "native_times": ["fast"]}]}',
    ],
)
def test_a_file_that_is_no_sweeps_is_left_alone_and_named(stage: Stage, text: str) -> None:
    stage.results.mkdir()
    (stage.results / "last_sweep.json").write_text(text)
    with pytest.raises(InputError, match=r"last_sweep\.json"):
        stage.sweep()
    assert stage.taken == [] and (stage.results / "last_sweep.json").read_text() == text
