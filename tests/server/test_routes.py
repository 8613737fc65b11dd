"""The routes that this server adds, on the real server and piece by piece."""

import asyncio
import json
import time
import urllib.request
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from machine import cpu_name, weights_kind
from tenants import seconds_until, tenants

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("last_seen", "seconds"),
    [
        (NOW - timedelta(seconds=40), 260.0),
        ((NOW - timedelta(seconds=40)).replace(tzinfo=None), 260.0),  # as SQLite gives it back
        (NOW - timedelta(seconds=400), 0.0),
        (None, 200.0),  # no heartbeat yet: from its making, 100 s ago
    ],
)
def test_a_silent_session_ends_its_timeout_after_it_was_last_seen(last_seen: datetime | None, seconds: float) -> None:
    assert seconds_until(300.0, last_seen, NOW - timedelta(seconds=100), NOW) == seconds


def test_the_processors_name_is_read_from_cpuinfo() -> None:
    assert cpu_name("processor\t: 0\nmodel name\t: AMD EPYC 7B13\n\nmodel name\t: other\n") == "AMD EPYC 7B13"
    assert cpu_name("CPU implementer\t: 0x41\n") == "unknown"


def test_weights_are_what_the_models_folder_says(tmp_path: Any) -> None:
    assert weights_kind(str(tmp_path)) is None
    (tmp_path / "weights.txt").write_text("random\n")
    assert weights_kind(str(tmp_path)) == "random"
    assert weights_kind("Qwen/Qwen3-0.6B") == "pretrained"


def get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return json.load(answer)


@pytest.mark.server
def test_the_environment_tells_what_the_server_is(server: Any) -> None:
    told = get(f"{server.url}/gspo-bench/environment")
    assert told["versions"]["skyrl"] == "0.4.0"
    assert told["versions"]["tinker"].startswith("0.25.")
    assert (told["backend"], told["preset"], told["weights"], told["gpus"]) == ("jax", "cpu", "arithmetic", [])
    assert told["backend_config"]["max_lora_adapters"] == 2  # the caller's, over the preset's 4
    assert told["backend_config"]["max_lora_rank"] == 32
    assert "max_lora_adapters" in told["preset_changed"] and "max_lora_rank" not in told["preset_changed"]
    assert told["base_model"] == str(server.model)
    assert told["cpu_count"] >= 1
    assert told["memory_bytes"] > 2**30
    assert told["notes"] == ["gspo added to the JAX backend by this server"]


@pytest.mark.server
def test_the_environment_tells_no_secret(server: Any) -> None:
    told = get(f"{server.url}/gspo-bench/environment")
    assert told.pop("model_config")["eos_token_id"] == 2  # the model's own file, which speaks of tokens
    text = json.dumps(told).lower()
    assert not [word for word in ("token", "secret", "password", "database_url", "sqlite") if word in text]


@pytest.mark.server
def test_only_models_that_are_there_in_sessions_that_are_alive_are_listed() -> None:
    from skyrl.tinker.db_models import FutureDB, ModelDB, RequestStatus, SessionDB
    from skyrl.tinker.types import RequestType
    from sqlalchemy.ext.asyncio import create_async_engine
    from sqlmodel import SQLModel
    from sqlmodel.ext.asyncio.session import AsyncSession

    seen = datetime.now(UTC) - timedelta(seconds=60)

    def future(number: int, status: RequestStatus) -> Any:
        return FutureDB(request_id=number, request_type=RequestType.CREATE_MODEL, request_data={}, status=status)

    def model(name: str, session: str, request: int, status: str = "created") -> Any:
        return ModelDB(model_id=name, base_model="m", lora_config={}, status=status, request_id=request, session_id=session)

    rows = [
        SessionDB(session_id="live", sdk_version="0.25.0", user_metadata={"host": "a"}, last_heartbeat_at=seen),
        SessionDB(session_id="expired", sdk_version="0.25.0", status="expired", last_heartbeat_at=seen),
        *[future(1, RequestStatus.COMPLETED), future(2, RequestStatus.PENDING), future(3, RequestStatus.FAILED)],
        *[model("made", "live", 1), model("in the making", "live", 2), model("refused", "live", 3)],
        *[model("unloaded", "live", 1, "unloaded"), model("left", "expired", 1)],
    ]

    async def list_them() -> list[dict[str, Any]]:
        engine = create_async_engine("sqlite+aiosqlite://")
        async with engine.begin() as connection:
            await connection.run_sync(SQLModel.metadata.create_all)
        async with AsyncSession(engine) as session:
            session.add_all(rows)
            await session.commit()
        found = await tenants(engine, timeout_s=300.0, sweep_s=5.0)
        await engine.dispose()
        return found

    found = asyncio.run(list_them())
    assert [one["model_id"] for one in found] == ["made", "in the making"]
    assert {one["session_id"] for one in found} == {"live"}
    assert found[0]["user_metadata"] == {"host": "a"}
    assert found[0]["expires_in_s"] == pytest.approx(245.0, abs=5.0)
    assert datetime.fromisoformat(found[0]["last_heartbeat_at"]) == seen


@pytest.mark.server
def test_the_clock_is_the_servers_own(server: Any) -> None:
    before_s = time.time()
    told_s = get(f"{server.url}/gspo-bench/clock")["now_s"]
    assert before_s - 1.0 <= told_s <= time.time() + 1.0


@pytest.mark.server
def test_a_model_that_nobody_made_has_no_requests(server: Any) -> None:
    assert get(f"{server.url}/gspo-bench/requests?model_id=nobodys") == []
