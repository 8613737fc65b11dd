"""A client that dies before its first heartbeat holds no model for longer than any other."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import silent_sessions

from tests.server.conftest import RunningServer, _started

pytestmark = pytest.mark.server

TIMEOUT_S = 3
SWEEP_S = 5


def test_only_sessions_that_are_older_than_the_timeout_and_never_had_a_heartbeat_are_marked(tmp_path: Path) -> None:
    from skyrl.tinker.db_models import SessionDB
    from sqlmodel import Session, SQLModel, create_engine, select

    now = datetime.now(UTC).replace(tzinfo=None)
    old, limit, fresh = now - timedelta(seconds=301), now - timedelta(seconds=300), now - timedelta(seconds=299)
    engine = create_engine(f"sqlite:///{tmp_path / 'tinker.db'}")
    SQLModel.metadata.create_all(engine)
    rows = {
        "dead": {"created_at": old},
        "young": {"created_at": fresh},
        "beating": {"created_at": old, "last_heartbeat_at": fresh},
        "expired": {"created_at": old, "status": "expired"},
    }
    with Session(engine) as session:
        session.add_all(SessionDB(session_id=name, sdk_version="0.25.0", **values) for name, values in rows.items())
        session.commit()
    silent_sessions.mark(engine, limit)
    with Session(engine) as session:
        seen = {row.session_id: row.last_heartbeat_at for row in session.exec(select(SessionDB)).all()}
    engine.dispose()
    assert seen == {"dead": old, "young": None, "beating": fresh, "expired": None}


def test_an_engine_of_another_shape_is_refused() -> None:
    with pytest.raises(ImportError, match="has no cleanup_stale_sessions"):
        silent_sessions.install(object)


@pytest.fixture(scope="module")
def impatient(server: RunningServer, tmp_path_factory: pytest.TempPathFactory, compiled: Path) -> Iterator[RunningServer]:
    """A server with one place, which drops a client after three seconds' silence."""
    log = tmp_path_factory.mktemp("impatient") / "server.log"
    with _started(server.model, log, "--session-timeout-s", str(TIMEOUT_S), f"--compile-cache={compiled}") as running:
        yield running


def post(server: RunningServer, path: str, body: dict[str, Any]) -> Any:
    return httpx.post(f"{server.url}/api/v1/{path}", json=body, timeout=60).raise_for_status().json()


def made(server: RunningServer) -> bool:
    """Whether a client that sends no heartbeat gets a model."""
    told = {"tags": [], "user_metadata": {"host": "gone"}, "sdk_version": "0.25.0", "type": "create_session"}
    session = post(server, "create_session", told)["session_id"]
    asked = {"session_id": session, "model_seq_id": 0, "base_model": str(server.model), "lora_config": {"rank": 8}}
    future = {"request_id": post(server, "create_model", asked)["request_id"]}
    return httpx.post(f"{server.url}/api/v1/retrieve_future", json=future, timeout=60).status_code == 200


def test_a_model_whose_client_never_sent_a_heartbeat_is_freed_after_the_sessions_timeout(impatient: RunningServer) -> None:
    assert made(impatient)
    begun_s = time.monotonic()
    assert not made(impatient)  # the only place is taken
    while httpx.get(f"{impatient.url}/gspo-bench/tenants", timeout=10).json():
        assert time.monotonic() - begun_s < TIMEOUT_S + SWEEP_S + 5
        time.sleep(0.2)
    assert made(impatient)
