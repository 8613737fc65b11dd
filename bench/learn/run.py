"""A learning run from a base URL to its folder: started anew, or gone on with."""

import contextlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import environment, image, paths, rollout
from bench.clock import Clock
from bench.errors import InputError
from bench.files import check_writable
from bench.learn import advantages, record
from bench.learn.checkpoints import Checkpoints, check_there
from bench.learn.loop import Learner
from bench.learn.metrics import Row
from bench.learn.record import Checkpoint, RunFolder
from bench.learn.reference import Reference
from bench.learn.sampling import Sampling
from bench.learn.settings import LearnSettings, of_record
from bench.learn.sinks import Sink
from bench.learn.stop import StopAfterStep
from bench.numbers import percent, plural
from bench.probe import Probe
from bench.progress import Reporter
from bench.session import ModelRequest, Session, open_session
from bench.tasks.task import Task, open_task
from bench.wait import ResultWaiter, until_healthy

FROM_START = Checkpoint(0, "", 0.0)


@dataclass(frozen=True)
class Where:
    """What may differ each time that a run is started or gone on with."""

    base_url: str
    model: str | None
    results: Path
    deadline_s: float
    ready_deadline_s: float
    wait_for_tenant: bool
    tensorboard: Path | None


@dataclass(frozen=True)
class Resumed:
    """A run to go on with: its folder, its record and where it stands. Its rows beyond the checkpoint are cut."""

    folder: RunFolder
    document: dict[str, Any]
    checkpoint: Checkpoint


def open_resumed(results: Path, given: str) -> Resumed:
    """The run that `--resume` names.

    Raises:
        InputError: there is none, or its files do not fit together.
    """
    folder = record.find(results, given)
    document = folder.read_run()
    return Resumed(folder, document, folder.read_checkpoint() or FROM_START)


def settings_of(resumed: Resumed) -> LearnSettings:
    """The settings that the run was started with."""
    recorded = resumed.document.get("settings")
    return of_record(recorded if isinstance(recorded, dict) else {}, str(resumed.folder.path / "run.json"))


def learn(settings: LearnSettings, where: Where, resumed: Resumed | None, reporter: Reporter) -> dict[str, Any]:
    """Learns and returns the run's record, which is on disk then. A resumed run that is complete is returned as it is, at once.

    Raises:
        BenchError: with the exit code that says what ended the run; its rows are kept and it is marked partial.
        KeyboardInterrupt: it was asked to stop; it did after a step, with a checkpoint.
    """
    model = where.model if resumed is None else str(resumed.document.get("model"))
    if resumed is not None:
        if where.model not in (None, model):
            raise InputError(f"the run to resume is of {model}, and --model is {where.model}: leave --model out.")
        reporter.say(_standing(resumed, settings))
        if _is_complete(resumed, settings):
            return resumed.document
    check_writable(where.results)
    sink = Sink(where.tensorboard)
    task = open_task(settings.task, Path(settings.data) if settings.data else None)
    probe = Probe(where.base_url)
    until_healthy(probe, where.ready_deadline_s, reporter.say)
    starting = ResultWaiter(probe, where.ready_deadline_s, reporter.say)
    state = resumed.checkpoint.state or None if resumed else None
    if state is not None:
        check_there(probe, state)
    request = ModelRequest(model, settings.lora_rank, settings.seed, where.wait_for_tenant, state)
    with (
        contextlib.closing(sink),
        open_session(probe, starting, request, reporter.say) as session,
        StopAfterStep(reporter.say) as stop,
    ):
        folder, document = _opened(session, settings, where, resumed)
        reporter.say(f"the run's folder is {folder.path}")
        start = resumed.checkpoint if resumed else FROM_START
        folder.cut(start.next_step)
        learner = _learner(session, settings, task, where, folder, start, stop, reporter, sink)
        return _run(learner, document, start, reporter)


def _is_complete(resumed: Resumed, settings: LearnSettings) -> bool:
    """Whether no step is left to take, and the last test is there; a run that ended within that test goes on with it."""
    return resumed.document.get("status") == "complete" and settings.steps <= resumed.checkpoint.next_step


def _standing(resumed: Resumed, settings: LearnSettings) -> str:
    """Where a run to go on with stands, in one line."""
    taken, path = resumed.checkpoint.next_step, resumed.folder.path
    if _is_complete(resumed, settings):
        more = image.learn_on(f"--resume --steps {2 * taken}")
        return f"{path} is complete with {plural(taken, 'step')}: to go on, raise --steps, as in {more}"
    if not resumed.checkpoint.state:
        return f"resuming {path} from the start: it ended before its first checkpoint"
    return f"resuming {path} from its last checkpoint, after {taken:,} of {plural(settings.steps, 'step')}: step {taken} is next"


def _opened(session: Session, settings: LearnSettings, where: Where, resumed: Resumed | None) -> tuple[RunFolder, dict[str, Any]]:
    """The run's folder and record: new ones, or the resumed ones, running again."""
    server = session.probe.environment()
    if resumed is not None:
        running = resumed.document | {
            "status": "running",
            "reason": None,
            "final": None,
            "steps": settings.steps,
            "settings": settings.as_recorded(),
        }
        running["resumed"] = [*resumed.document.get("resumed", []), {"at": _now(), "next_step": resumed.checkpoint.next_step}]
        resumed.folder.write_run(running)
        record.point_to(where.results, resumed.folder.path)
        return resumed.folder, running
    backend = (server or {}).get("backend")
    document: dict[str, Any] = {
        "schema": record.SCHEMA,
        "kind": record.KIND,
        "status": "running",
        "reason": None,
        "created_at": _now(),
        "model": session.model,
        "weights": (server or {}).get("weights"),
        "task": settings.task,
        "path": settings.path_name,
        "loss": {
            "name": "gspo",
            **settings.ratio_clip.as_loss_fn_config(),
            "advantages": "centred, divided by the standard deviation" if settings.divide_by_stdev else "centred",
            "reduction": advantages.reduction_words(backend),
        },
        "seed": settings.seed,
        "groups": settings.groups,
        "group_size": settings.group_size,
        "updates_per_batch": settings.updates_per_batch,
        "learning_rate": settings.learning_rate,
        "lora_rank": settings.lora_rank,
        "max_tokens": settings.max_tokens,
        "steps": settings.steps,
        "final": None,
        "resumed": [],
        "settings": settings.as_recorded(),
        "environment": {"client": environment.client_environment(), "server": server},
    }
    folder = record.new_folder(where.results, datetime.now(UTC), session.model, settings.path_name)
    folder.write_run(document)
    return folder, document


def _learner(
    session: Session,
    settings: LearnSettings,
    task: Task,
    where: Where,
    folder: RunFolder,
    start: Checkpoint,
    stop: StopAfterStep,
    reporter: Reporter,
    sink: Sink,
) -> Learner:
    probe, say, clock = session.probe, reporter.say, Clock()
    wait = ResultWaiter(probe, where.deadline_s, say)
    # The first sampling on a GPU server starts vLLM, which takes minutes.
    patient = ResultWaiter(probe, max(where.deadline_s, where.ready_deadline_s), say)
    tokenizer = rollout.load_tokenizer(settings.tokenizer or session.model)

    def tell(row: Row) -> None:
        sink.write(row)
        say(_line(row))

    return Learner(
        client=session.client,
        settings=settings,
        sampling=Sampling(task, tokenizer, settings.max_tokens, settings.seed, patient, say, clock),
        reference=Reference(session.service, session.model, wait, say),
        path=paths.paths_by_name([settings.path_name])[0],
        backend=(probe.environment() or {}).get("backend"),
        folder=folder,
        checkpoints=Checkpoints(session.client, folder, probe, wait, say, [start.state] if start.state else []),
        wait=wait,
        stop=stop,
        clock=clock,
        sink=tell,
    )


def _run(learner: Learner, document: dict[str, Any], start: Checkpoint, reporter: Reporter) -> dict[str, Any]:
    folder, settings = learner.folder, learner.settings
    try:
        done = learner.run(start.next_step, start.elapsed_s)
        if done < settings.steps:
            raise KeyboardInterrupt
        if settings.test_every:
            last, begun_s = folder.read_checkpoint() or FROM_START, learner.clock.now_s()
            document["final"] = {"step": done, **learner.test(), "time/elapsed": last.elapsed_s + learner.clock.now_s() - begun_s}
    except BaseException as error:
        why = "interrupted" if isinstance(error, KeyboardInterrupt) else str(error).split("\n", 1)[0] or type(error).__name__
        folder.write_run(document | {"status": "partial", "reason": why})
        reporter.say(f"kept in {folder.path}: go on with {image.learn_on()}")
        raise
    document |= {"status": "complete"}
    folder.write_run(document)
    return document


def _line(row: Row) -> str:
    """A row in a line, for who watches."""
    tested = f", held-out {_share(row, 'test/env/all/correct')}" if "test/env/all/correct" in row else ""
    clipped = f", {row['loss/clip_fraction']:.0%} clipped" if row["loss/clip_fraction"] else ""
    skipped = plural(int(row["groups/skipped"] or 0), "group")
    length = plural(round(row["env/all/ac_tokens_per_turn"] or 0), "token")
    return (
        f"step {row['step']}: {_share(row, 'env/all/correct')} right{tested}, {skipped} without signal{clipped}, "
        f"{length} an answer, {row['time/total']:.1f} s"
    )


def _share(row: Row, key: str) -> str:
    return percent(100 * (row[key] or 0.0))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
