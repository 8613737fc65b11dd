"""What the tests of the pictures share: the stored result files, and a way to write a changed one."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def published() -> dict[str, Any]:
    return json.loads((DATA / "published_gspo_bench.json").read_text())


@pytest.fixture
def schema1() -> dict[str, Any]:
    return json.loads((DATA / "schema1_gspo_bench.json").read_text())


@pytest.fixture
def written(tmp_path: Path) -> Callable[[Any], Path]:
    """Write a document (JSON-encoded unless it is bytes) as last_gspo_bench.json in an empty folder."""

    def write(document: Any) -> Path:
        path = tmp_path / "last_gspo_bench.json"
        path.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
        return path

    return write
