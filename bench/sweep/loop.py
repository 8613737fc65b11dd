"""The sweep itself: which row is next, how long it may take, what is kept of it, and what the best is at the end."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import batch as batches
from bench.errors import BenchError, InputError
from bench.files import alone_in, check_writable
from bench.grown_batch import grown
from bench.numbers import duration, memory, plural
from bench.sweep import document as files
from bench.sweep.best import best_entry
from bench.sweep.difference import what_differs
from bench.sweep.document import Sweep
from bench.sweep.outcome import FINISHED, OK, outcome
from bench.sweep.plan import PlannedRow
from bench.sweep.rows import row_of
from bench.sweep.servers import Servers
from bench.sweep.start_up import alike, failed_starting
from bench.sweep.take import Ending, Place, take

OWN_FOLDER = "sweep"  # of the results folder: what the rows' clients write
LOGS = "sweep-logs"
# Of a time budget, for ending the last row: a share of what a row takes, of the budget where that is not known, and at most so long.
ENDING_SHARE = 0.25
ENDING_S = 15.0
UNKNOWN = "unknown"  # the GPU's name where the server does not tell


@dataclass(frozen=True)
class Options:
    """What was asked for beside the rows and the servers; `shown` is the file that is spoken of, by default the sweep's own.

    `names_best` says that the rows are settings to choose from, so that the best of them is named and kept as a preset.
    """

    results: Path
    batch: Path | None
    steps: int
    warmup: int
    run_arguments: tuple[str, ...]
    row_deadline_s: float
    time_budget_s: float | None
    memory_limit_gib: float | None
    again: bool
    shown: Path | None = None
    names_best: bool = True

    @property
    def file(self) -> Path:
        """The file that users know the rows by."""
        return self.shown or self.results / files.LAST


class Looper:
    """Takes the rows that are not there yet, one after another."""

    def __init__(
        self,
        plan: Sequence[PlannedRow],
        servers: Servers,
        options: Options,
        say: Callable[[str], None],
        on_save: Callable[[dict[str, Any]], None] = lambda document: None,
    ) -> None:
        self.plan, self.servers, self.options, self.say, self.on_save = plan, servers, options, say, on_save
        self.start_s = time.monotonic()
        self.walls_s: list[float] = []
        self.taken: set[str] = set()
        self.failed: dict[str, Any] | None = None  # the row before, where it failed at start-up
        self.not_tried: list[str] = []
        self.saved_in = options.results / files.LAST
        self.replaced: Path | None = None  # own copy of the sweep whose place this one takes

    def run(self) -> dict[str, Any]:
        """Takes what can be taken and returns the file's content, which is on disk then and was after every row.

        Raises:
            BenchError: what no row can be taken with; the rows before are kept.
        """
        check_writable(self.options.results)
        with alone_in(self.options.results, "sweep"):
            return self._run()

    def _run(self) -> dict[str, Any]:
        self.sweep = self._begin()
        self.batch = self._batch()
        try:
            reason = self._rows()
        except BaseException as error:
            why = "interrupted" if isinstance(error, KeyboardInterrupt) else str(error).split("\n", 1)[0] or type(error).__name__
            if self.sweep.rows:
                self._save(f"ended early: {why}")
                self.say(self._kept())
            raise
        return self._save(reason)

    def _kept(self) -> str:
        """Where the rows of a sweep that ended early are, and what goes on with them."""
        rows = plural(len(self.sweep.rows), "row")
        if self.saved_in.name != files.LAST:
            return f"kept {rows} in {self.saved_in}; {self.options.file.name} stays the one before, for no row of this one went well"
        before = f"; the sweep before it stays in {self.replaced}" if self.replaced else ""
        return f"kept {rows} in {self.options.file}; {self._again()} goes on from there{before}"

    def _begin(self) -> Sweep:
        """The last sweep where this one goes on with it, else an empty one."""
        flags = " ".join(self.options.run_arguments)
        fresh = files.begin(f"{self.servers.identity}; bench run {flags}" if flags else self.servers.identity)
        if self.options.again:
            self._replace()
            return fresh
        earlier = files.load(self.options.results)
        if earlier is None:
            return fresh
        if earlier.server_id != fresh.server_id:
            self._leave(earlier, f"was made with another server or client: {what_differs(earlier.server, fresh.server)}")
            return fresh
        if self.options.batch is not None and earlier.batch_sha256 != batches.load(self.options.batch).sha256:
            self._leave(earlier, "is of another batch")
            return fresh
        return earlier

    def _replace(self) -> None:
        """Says where the last sweep stays, which this one takes the place of; a file that is none is no hindrance."""
        try:
            earlier = files.load(self.options.results)
        except InputError:
            return
        kept = self.options.results / "runs" / earlier.file_name() if earlier else None
        if kept is not None and kept.is_file():
            self.replaced = kept
            self.say(f"starting anew for --again; the rows in {self.options.file.name} stay in {kept}")

    def _again(self) -> str:
        """What is typed to go on with this sweep."""
        return "without --again the same command" if self.options.again else "the same command"

    def _leave(self, earlier: Sweep, why: str) -> None:
        kept = self.options.results / "runs" / earlier.file_name()
        self.say(f"{self.options.file.name} {why}; starting anew (its rows stay in {kept})")

    def _batch(self) -> str | None:
        """The frozen batch's file name in the rows' folder: the given one's, else the one of the sweep that goes on, else None."""
        folder = self.options.results / OWN_FOLDER / "batches"
        if self.options.batch is not None:
            given = batches.load(self.options.batch)
            name = f"{given.sha256[:12]}.json"
            batches.save(given, folder / name)
            return name
        if self.sweep.batch_sha256 is None:
            return None
        name = f"{self.sweep.batch_sha256[:12]}.json"
        if (folder / name).is_file():
            return name
        self._leave(self.sweep, f"trained on a batch that is not there any more ({folder / name})")
        self.sweep = Sweep(self.sweep.server, self.sweep.server_id)
        return None

    def _rows(self) -> str | None:
        """None when all rows are there, else why not."""
        kept = [row.label for row in self.plan if self._is_finished(row)]
        if kept:
            self.say(f"taken before: {', '.join(kept)} (--again takes them again)")
        for row in (self.sweep.rows[row.key] for row in self.plan if self._is_finished(row)):
            if row["status"] != OK:
                self.say(f"{row['label']}: {row['status'].replace('_', ' ')}: {row['reason']}")
        while (planned := self._next()) is not None:
            if planned.times > 1 and self.batch is None:
                return f"there is no batch for {planned.label} to grow from: no row before it sampled one"
            left_s = self._left_s()
            if left_s is not None and left_s <= min(self.walls_s, default=0.0):
                return self._no_time()
            limit_s = self.options.row_deadline_s if left_s is None else min(self.options.row_deadline_s, left_s)
            number = self.plan.index(planned) + 1
            self.say(f"row {number} of {len(self.plan)}: {planned.label}")
            ending = take(self.servers, planned.backend_config, self._arguments(planned), self._place(planned), limit_s)
            if ending.out_of_time and limit_s < self.options.row_deadline_s:
                return self._no_time()
            row = self._keep(planned, ending)
            if (stopped := self._stopped(row, ending)) is not None:
                return stopped
        return None

    def _next(self) -> PlannedRow | None:
        """What is missing goes before what failed another time, so that rows which fail alike do not keep the others from their turn."""
        left = [row for row in self.plan if not self._is_finished(row)]
        return min(left, key=lambda row: (row.times > 1 and self.batch is None, row.key in self.sweep.rows), default=None)

    def _stopped(self, row: dict[str, Any], ending: Ending) -> str | None:
        """Why the rows that are left would fail as this one and the one before it did; None where they need not, or there are none."""
        before, self.failed = self.failed, row if failed_starting(row, ending) else None
        left = [row.label for row in self.plan if not self._is_finished(row)]
        if not left or before is None or self.failed is None or not alike(before, row, list(self.sweep.rows.values())):
            return None
        self.not_tried = left
        return (
            f"{before['label']} and {row['label']} failed at start-up for the same reason, {row['reason']}; "
            f"not tried: {', '.join(left)}; once it is fixed, {self._again()} takes what is missing"
        )

    def _is_finished(self, planned: PlannedRow) -> bool:
        found = self.sweep.rows.get(planned.key)
        return planned.key in self.taken or (found is not None and found["status"] in FINISHED)

    def _left_s(self) -> float | None:
        if self.options.time_budget_s is None:
            return None
        ending_s = min(ENDING_S, ENDING_SHARE * min(self.walls_s, default=self.options.time_budget_s))
        return self.options.time_budget_s - ending_s - (time.monotonic() - self.start_s)

    def _no_time(self) -> str:
        left = ", ".join(row.label for row in self.plan if not self._is_finished(row))
        used = f"{time.monotonic() - self.start_s:.0f} of the {self.options.time_budget_s:.0f} s of the time budget were used"
        if not self.taken:
            return f"{used}, and no row came to its end; give more time to {self._again()}, which takes what is missing: {left}"
        return f"{used}, too little is left for another row; {self._again()} takes what is missing: {left}"

    def _arguments(self, planned: PlannedRow) -> list[str]:
        own = f"{self.servers.results_seen}/{OWN_FOLDER}"
        deadline = str(self.options.row_deadline_s)
        flags = ["run", "--base-url", self.servers.client_url, "--results", own, "--floor-steps", "0"]
        flags += ["--steps", str(planned.steps or self.options.steps), "--warmup", str(self.options.warmup)]
        flags += ["--deadline-s", deadline, "--ready-deadline-s", deadline, *self.options.run_arguments]
        return [*flags, "--batch", f"{own}/batches/{self._batch_for(planned, self.batch)}"] if self.batch else flags

    def _batch_for(self, planned: PlannedRow, name: str) -> str:
        """The name of the row's batch: the frozen one's, or that of one grown from it, which is there then."""
        if planned.times == 1:
            return name
        folder = self.options.results / OWN_FOLDER / "batches"
        larger = grown(batches.load(folder / name), planned.times)
        batches.save(larger, folder / f"{larger.sha256[:12]}.json")
        return f"{larger.sha256[:12]}.json"

    def _place(self, planned: PlannedRow) -> Place:
        logs = self.options.results / LOGS
        logs.mkdir(parents=True, exist_ok=True)
        return Place(self.options.results / OWN_FOLDER, logs / f"{planned.label}.log", logs / f"{planned.label}.client.log")

    def _keep(self, planned: PlannedRow, ending: Ending) -> dict[str, Any]:
        sampled, document = self.batch is None, ending.document
        status, reason = outcome(ending, self.options.row_deadline_s)
        result_file = str(ending.document_file.relative_to(self.options.results)) if ending.document_file else None
        row = row_of(planned, ending, status, reason, result_file, sampled)
        facts = files.facts_of(document, ending.told)
        self._drop_other_machines(facts)
        # What a server tells is more than nothing, and a result file is more than that.
        if planned.times == 1 and (document is not None or not self.sweep.facts.get("batch")):
            self.sweep.facts = facts or self.sweep.facts
        if planned.times == 1 and document is not None:
            self.batch = f"{document['batch']['sha256'][:12]}.json"
        self.sweep.rows[planned.key] = row
        self.taken.add(planned.key)
        if status == OK:
            self.walls_s.append(ending.wall_s)
        self._save("still running, or killed")
        self.say(_sentence(row, ending.wall_s, self.failed, self._place(planned).server_log))
        return row

    def _drop_other_machines(self, facts: dict[str, Any]) -> None:
        """Leaves the rows of an earlier sweep where it turns out that they are of another GPU; those of this one stay in any case."""
        here, there = facts.get("gpu"), self.sweep.facts.get("gpu")
        if here == there or UNKNOWN in (here or UNKNOWN, there or UNKNOWN) or not self.sweep.rows.keys() - self.taken:
            return
        self._leave(self.sweep, f"is of another machine ({there}, this one has {here})")
        kept = {key: row for key, row in self.sweep.rows.items() if key in self.taken}
        self.sweep = Sweep(self.sweep.server, self.sweep.server_id, rows=kept)

    def _save(self, reason: str | None) -> dict[str, Any]:
        best, roofline = None, None
        if self.options.names_best:
            best, roofline = best_entry(self.sweep, self.plan[0].key, self.options.memory_limit_gib, self.options.results)
        document = self.sweep.document([row.key for row in self.plan], best, roofline, reason, self.not_tried)
        self.saved_in = files.save(document, self.options.results, self.sweep.file_name())
        if self.saved_in.name == files.LAST:
            self.on_save(document)
        return document


def _sentence(row: dict[str, Any], wall_s: float, failed: dict[str, Any] | None, log: Path) -> str:
    """A row in one line, while the sweep goes on; `failed` is the row before, where that failed at start-up."""
    if row["status"] != OK:
        why = f"as {failed['label']} did" if failed and failed["reason"] == row["reason"] else row["reason"]
        return f"{row['label']}: {row['status'].replace('_', ' ')}, after {wall_s:.0f} s: {why}. The server's whole log: {log}"
    parts = [f"fused {duration(row['native_1pass_s'])}"]
    if row["custom_2pass_s"] is not None:
        parts.append(f"two passes {duration(row['custom_2pass_s'])}")
    if row["peak_memory_bytes"] is not None:
        parts.append(memory(row["peak_memory_bytes"]))
    ready = "" if row["ready_s"] is None else f"; ready after {row['ready_s']:.0f} s"
    return f"{row['label']}: {', '.join(parts)}{ready}, {wall_s:.0f} s in all"


def check_tried(document: dict[str, Any]) -> None:
    """Raises BenchError for a sweep that stopped since its rows fail alike at start-up."""
    if document.get("not_tried"):
        raise BenchError(
            f"{plural(len(document['not_tried']), 'row')} not tried, for the reason above.\nFix it, then run the same command."
        )


def check_any(document: dict[str, Any]) -> None:
    """Raises BenchError for a sweep that stopped early or has no row that went well, InputError where none is within the memory limit."""
    check_tried(document)
    if document["best"] is not None or not document["rows"]:
        return
    if any(row["status"] == OK for row in document["rows"]):
        raise InputError("no row is known to be within --memory-limit-gib.\nRaise it; rows of servers that tell no GPU memory are out too.")
    raise BenchError("no row went well; each says why above.\nThe servers' own words are in the results folder under sweep-logs/.")
