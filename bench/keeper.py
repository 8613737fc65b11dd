"""Keeps what was measured: after each round, when a run ends early, and whole at its end."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bench import environment, image, results
from bench.errors import InputError, UnsavedError
from bench.measure import StepRecord
from bench.probe import Probe
from bench.results import RunFacts


@dataclass
class Keeper:
    """Writes a run's own file in `folder`; at its end also the one that the plots take."""

    probe: Probe
    folder: Path
    facts: RunFacts
    say: Callable[[str], None]
    _name: str = field(init=False)
    _saved: bool = field(init=False, default=False)
    _failed: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self._name = results.file_name(self.facts)

    def after_round(self, records: Sequence[StepRecord]) -> None:
        """So that a run that is killed has its rounds on disk. A disk that is full is told once: the end of the run tries again."""
        document = results.assemble(self.facts, records, "still running, or killed")
        try:
            self._save(document, last=False)
        except InputError as error:
            if not self._failed:
                self.say(f"{_on_one_line(error)} The run goes on.")
            self._failed = True

    def partial(self, records: Sequence[StepRecord], reason: str) -> None:
        """Keeps what there is, and raises nothing over what ends the run."""
        if not records:
            return
        try:
            document = self._document(records, reason)
            before = self._replaced(document)
            self.say(f"kept what was measured, marked partial: {self._save(document, _is_counted(document))}{before}")
        except InputError as error:
            self.say(_on_one_line(error))

    def whole(self, records: Sequence[StepRecord]) -> tuple[dict[str, Any], Path]:
        """The document of a complete run and its own file.

        Raises:
            UnsavedError: with the document, where it cannot be written.
        """
        document = self._document(records, None)
        try:
            return document, self._save(document, _is_counted(document))
        except InputError as error:
            raise UnsavedError(str(error), document) from error

    def _document(self, records: Sequence[StepRecord], reason: str | None) -> dict[str, Any]:
        server = self.probe.environment()
        memory = [*self.facts.memory, environment.gpu_memory(server, "measured")] if server else self.facts.memory
        final = replace(self.facts, client=environment.client_environment(), server=server or self.facts.server, memory=memory)
        return results.assemble(final, records, reason)

    def _replaced(self, document: dict[str, Any]) -> str:
        """A clause on the file that plots take: it is this run's now, and where the run before it stays. '' where it is left alone."""
        if not _is_counted(document):
            return ""
        earlier = results.own_file_of_last(self.folder)
        kept = f", the run before it stays in {earlier}" if earlier else ""
        return f"; {results.LAST} is this run now{kept}{'; make plots draws it' if image.by_make() else ''}"

    def _save(self, document: dict[str, Any], last: bool) -> Path:
        """Under a name of its own from the first time on: another run of this second may be saved in the folder."""
        own = results.save(document, self.folder, self._name, last, new=not self._saved)
        self._name, self._saved = own.name, True
        return own


def _is_counted(document: dict[str, Any]) -> bool:
    """Whether it has a step that counts: without one it takes no other run's place."""
    return any(step["counted"] for step in document["steps"])


def _on_one_line(error: InputError) -> str:
    return str(error).replace("\n", " ")
