"""A scaling run from its rows to its file and table, against numbers worked out by hand; `take` is scripted, no server is started."""

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from bench import batch as batches
from bench.scale.document import document_of, save
from bench.scale.plan import gpus_of, planned_rows
from bench.scale_table import print_scale
from bench.sweep import loop
from bench.sweep.loop import Looper, Options
from bench.sweep.take import Ending, Place
from tests.bench.fakes import SMALL_BATCH
from tests.bench.sweep.endings import failed, measured

# Seconds of a fused step by GPUs and by how many times larger the batch is.
FUSED_S = {(1, 1): 8.0, (2, 1): 5.0, (4, 1): 4.0, (2, 2): 8.0, (4, 4): 10.0}
ROWS = planned_rows("fsdp", (1, 2, 4), {"x": 1})


class Stage:
    """Servers whose rows take FUSED_S, or end as `endings` says; `taken` has what was trained on, in order."""

    def __init__(self, results: Path) -> None:
        self.results = results
        self.servers: Any = SimpleNamespace(identity="fake", client_url="http://s:1", results_seen=str(results / "scale"))
        self.endings: dict[tuple[int, int], Ending] = {}
        self.taken: list[tuple[int, int]] = []
        self.said: list[str] = []

    def take(self, _servers: Any, config: dict[str, Any], arguments: Sequence[str], place: Place, limit_s: float) -> Ending:
        sampled = "--batch" not in arguments
        trained = SMALL_BATCH if sampled else batches.load(Path(arguments[arguments.index("--batch") + 1]))
        key = (gpus_of(config), len(trained.sequences) // len(SMALL_BATCH.sequences))
        self.taken.append(key)
        if key in self.endings:
            return self.endings[key]
        ending = measured([FUSED_S[key]] * 3, [2 * FUSED_S[key]] * 3, 10.0 * key[0], "NVIDIA H200")
        assert ending.document is not None
        ending.document["batch"] |= trained.facts()
        if sampled:
            batches.save(trained, place.results / "batches" / f"{trained.sha256[:12]}.json")
        path = place.results / "runs" / f"{key[0]}-{key[1]}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(ending.document))
        return replace(ending, document_file=path)

    def scale(self) -> dict[str, Any]:
        self.taken.clear()
        options = Options(self.results / "scale", None, 4, 1, (), 900.0, None, None, False, self.results / "last_scale.json", False)
        sweep = Looper(ROWS, self.servers, options, self.said.append, lambda document: save(document, self.results) and None).run()
        file: dict[str, Any] = json.loads((self.results / "last_scale.json").read_text())
        assert file == document_of(sweep)
        return file


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    made = Stage(tmp_path / "results")
    monkeypatch.setattr(loop, "take", made.take)
    return made


def test_every_row_trains_on_its_batch_and_efficiency_is_against_one_gpu(stage: Stage) -> None:
    file = stage.scale()
    assert stage.taken == [(1, 1), (2, 1), (4, 1), (2, 2), (4, 4)]
    assert (file["kind"], file["status"], file["reference_gpus"], file["gpu"]) == ("gspo-bench-scale", "complete", 1, "NVIDIA H200")
    assert [(row["gpus"], row["batch"], row["sequences"]) for row in file["rows"]] == [
        (1, "same", 2),
        (2, "same", 2),
        (4, "same", 2),
        (2, "grown", 4),
        (4, "grown", 8),
    ]
    # Strong: 8 / (2 * 5) and 8 / (4 * 4). Weak: 8 / 8 and 8 / 10.
    assert [row["efficiency_pct"] for row in file["rows"]] == pytest.approx([100.0, 80.0, 50.0, 100.0, 80.0])
    # The batch has 8 target tokens.
    assert [row["tokens_per_s"] for row in file["rows"]] == pytest.approx([1.0, 1.6, 2.0, 2.0, 3.2])
    assert [row["custom_2pass_s"] for row in file["rows"]] == [16.0, 10.0, 8.0, 16.0, 20.0]
    assert file["batch"] == {"sha256": SMALL_BATCH.sha256, "sequences": 2, "target_tokens": 8}
    assert all((stage.results / row["result_file"]).is_file() for row in file["rows"])
    assert not list(stage.results.rglob("best-*.json"))


def test_rows_that_were_taken_are_not_taken_again(stage: Stage) -> None:
    stage.endings[(2, 2)] = failed(client_code=5, client_text="bench: the result is not valid: rows changed places.")
    first = stage.scale()
    assert [(row["status"], row["efficiency_pct"]) for row in first["rows"]][3] == ("crashed", None)
    assert "the result is not valid" in first["rows"][3]["reason"]
    del stage.endings[(2, 2)]
    second = stage.scale()
    assert stage.taken == [(2, 2)]
    assert [row["efficiency_pct"] for row in second["rows"]] == pytest.approx([100.0, 80.0, 50.0, 100.0, 80.0])


def test_rows_that_are_left_for_a_new_start_are_those_of_its_own_file_and_where_they_stay_is_told(stage: Stage) -> None:
    stage.scale()
    stage.servers.identity = "another"
    stage.said.clear()
    stage.scale()
    why, _, kept = stage.said[0].removesuffix(")").partition("; starting anew (its rows stay in ")
    assert why == "last_scale.json was made with another server or client: fake, now another"
    assert Path(kept).parent == stage.results / "scale" / "runs" and Path(kept).is_file()


def test_an_interrupt_names_its_own_file_as_what_has_the_rows(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def take(*arguments: Any) -> Ending:
        if stage.taken:
            raise KeyboardInterrupt
        return stage.take(*arguments)

    monkeypatch.setattr(loop, "take", take)
    with pytest.raises(KeyboardInterrupt):
        stage.scale()
    assert stage.said[-1] == f"kept 1 row in {stage.results / 'last_scale.json'}; the same command goes on from there"
    file = json.loads((stage.results / "last_scale.json").read_text())
    assert (len(file["rows"]), file["status"], file["reason"]) == (1, "partial", "ended early: interrupted")


def test_rows_stand_by_batch_and_gpus_whichever_were_taken_first(stage: Stage) -> None:
    stage.scale()
    kept = json.loads((stage.results / "scale" / "last_sweep.json").read_text())
    found = document_of(kept | {"rows": kept["rows"][::-1]})
    order = [(1, "same"), (2, "same"), (4, "same"), (2, "grown"), (4, "grown")]
    assert [(row["gpus"], row["batch"]) for row in found["rows"]] == order
    assert found["reference_gpus"] == 1


def test_a_model_that_does_not_fit_one_gpu_is_measured_against_two(stage: Stage) -> None:
    stage.endings[(1, 1)] = failed(client_text="torch.OutOfMemoryError: CUDA out of memory")
    file = stage.scale()
    assert (file["rows"][0]["status"], file["reference_gpus"]) == ("out_of_memory", 2)
    # Tokens a second and GPU: 0.8 on two; 0.5 on four; grown 1.0 and 0.8.
    assert [row["efficiency_pct"] for row in file["rows"][1:]] == pytest.approx([100.0, 62.5, 125.0, 100.0])


def test_without_a_batch_nothing_grows(stage: Stage) -> None:
    for key in ((1, 1), (2, 1), (4, 1)):
        stage.endings[key] = failed(client_text="bench: it failed" + "!" * key[0])
    file = stage.scale()
    assert len(file["rows"]) == 3
    assert file["status"] == "partial"
    assert file["reason"] == "there is no batch for 2-gpus-grown to grow from: no row before it sampled one"


def test_two_rows_that_fail_alike_at_start_up_stop_a_scaling_run_and_its_file_says_what_was_not_tried(stage: Stage) -> None:
    for key in ((2, 1), (4, 1)):
        stage.endings[key] = failed(client_text="bench: creating the model: the server failed: OSError: libnccl.so.2: cannot open")
    file = stage.scale()
    assert stage.taken == [(1, 1), (2, 1), (4, 1)]
    assert [row["status"] for row in file["rows"]] == ["ok", "crashed", "crashed"]
    assert (file["status"], file["not_tried"]) == ("partial", ["2-gpus-grown", "4-gpus-grown"])
    assert file["reason"].startswith("2-gpus-same and 4-gpus-same failed at start-up for the same reason, creating the model: ")


def test_the_table_says_what_each_row_is_and_what_failed(stage: Stage) -> None:
    stage.endings[(4, 4)] = failed(client_text="torch.OutOfMemoryError: CUDA out of memory")
    console = Console(width=120, record=True, file=io.StringIO())
    print_scale(stage.scale(), "last_scale.json", console)
    text = console.export_text()
    lines = [" ".join(line.replace("│", " ").split()) for line in text.splitlines()]
    assert "2 same 2 5.000 s 10.00 s 25.0 % 1.600 80.0 % 20.0 GiB" in lines
    assert "4 grown 8 out of memory" in lines
    assert "Efficiency: tokens a second and GPU of the fused step, against one GPU's." in lines
