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
from tests.plots.report.cases import PAGES, hostile, repeat


@pytest.fixture
def report(tmp_path: Path) -> Callable[..., Path]:
    """Write the page of a folder with these documents, each by its file's name without .json."""

    def write(**documents: Any) -> Path:
        for name, document in documents.items():
            (tmp_path / f"{name}.json").write_text(json.dumps(document))
        return write_folder(tmp_path)

    return write


@pytest.fixture(scope="session")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The page of a case, each beside a repeat whose texts are hostile; made once."""

    @functools.cache
    def page_of(case: str) -> Path:
        folder = tmp_path_factory.mktemp("page")
        (folder / "last_gspo_bench.json").write_text(json.dumps(PAGES[case]))
        (folder / "last_repeat.json").write_text(json.dumps(hostile(repeat())))
        return write_folder(folder)

    return page_of


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = shutil.which("chromium")
    assert found, "these tests need Chromium: apt-get install chromium, or leave them out with -m 'not browser'"
    with sync_playwright() as driver:
        made = driver.chromium.launch(executable_path=found, args=["--disable-dev-shm-usage"])
        yield made
        made.close()
