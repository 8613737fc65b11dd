"""A browser for the pages: Debian's Chromium, driven without a network."""

import functools
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from plots.report.build import write_folder
from tests.plots.report.cases import FULL, PAGES, learn, repeat
from tests.plots.run_cases import Run, write_run
from tests.plots.scaling_cases import scale, to_eight
from tests.plots.sweep_cases import micro_batches


@pytest.fixture
def report(tmp_path: Path) -> Callable[..., Path]:
    """Write the page of a folder with these documents, each by its file's name without .json."""

    return lambda **documents: written(tmp_path, **documents)


def written(folder: Path, run: Run | None = None, **documents: Any) -> Path:
    """Write these documents into a folder, each under its file's name without .json, and a learning run, and return the folder's page."""
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))
    if run:
        write_run(folder / "runs" / "learn", run)
        (folder / "last_learn.json").write_text(json.dumps({"schema": 1, "kind": "gspo-bench-learn", "run": "runs/learn"}))
    return write_folder(folder)


@pytest.fixture(scope="session")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The page of a case, made once. Those of `FULL` have a sweep, a learning run and repeated runs too, their texts as hostile."""

    @functools.cache
    def page_of(case: str) -> Path:
        folder = tmp_path_factory.mktemp("page")
        changed = FULL.get(case)
        if changed is None:
            return written(folder, last_gspo_bench=PAGES[case])
        record, steps = learn()
        others = {"last_repeat": changed(repeat()), "last_sweep": changed(micro_batches()), "last_scale": changed(scale(to_eight()))}
        return written(folder, (changed(record), steps), last_gspo_bench=PAGES[case], **others)

    return page_of


# No longer than a module: while it lives, playwright has this thread's event loop running, and no test could run one of its own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = shutil.which("chromium")
    assert found, "these tests need Chromium: apt-get install chromium, or leave them out with -m 'not browser'"
    with sync_playwright() as driver:
        made = driver.chromium.launch(executable_path=found, args=["--disable-dev-shm-usage"])
        yield made
        made.close()
