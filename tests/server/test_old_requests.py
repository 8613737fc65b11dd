"""What finished requests carried leaves the database in time; what can still be asked for, and that nothing is done twice, stays."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import old_requests
import pytest

pytestmark = pytest.mark.server

NOW = datetime.now(UTC)
OLD, FRESH = NOW - timedelta(minutes=31), NOW - timedelta(minutes=29)
LIMIT = NOW - timedelta(minutes=30)


@pytest.fixture
def database(tmp_path: Path) -> Any:
    """A database with SkyRL's tables on disk, and its file."""
    from skyrl.tinker import db_models
    from sqlmodel import SQLModel, create_engine

    path = tmp_path / "tinker.db"
    engine = create_engine(f"sqlite:///{path}")
    db_models.enable_sqlite_wal(engine)
    SQLModel.metadata.create_all(engine)
    yield engine, path
    engine.dispose()


def future(number: int, kind: str, status: str, completed_at: datetime | None, **values: Any) -> Any:
    from skyrl.tinker.db_models import FutureDB, RequestStatus
    from skyrl.tinker.types import RequestType

    made = {"model_id": "m", "seq_id": number, "request_data": {"data": "in"}, "result_data": '{"out": 1}'} | values
    return FutureDB(request_id=number, request_type=RequestType(kind), status=RequestStatus(status), completed_at=completed_at, **made)


def add(engine: Any, *rows: Any) -> None:
    from sqlmodel import Session

    with Session(engine) as session:
        session.add_all(rows)
        session.commit()


def rows(engine: Any) -> dict[int, Any]:
    from skyrl.tinker.db_models import FutureDB
    from sqlmodel import Session, select

    with Session(engine) as session:
        return {row.request_id: (row.status.value, row.request_data, row.result_data) for row in session.exec(select(FutureDB)).all()}


def test_only_finished_work_older_than_the_limit_loses_its_data(database: Any) -> None:
    engine, _ = database
    kept = [
        future(1, "forward_backward", "completed", FRESH),
        future(2, "forward", "pending", None),
        future(3, "create_model", "completed", OLD),
        future(4, "save_weights", "completed", OLD),
    ]
    dropped = [
        future(5, "forward_backward", "completed", OLD),
        future(6, "forward", "completed", OLD),
        future(7, "sample", "completed", OLD),
    ]
    add(engine, *kept, *dropped)
    before = rows(engine)
    assert old_requests.drop(engine, LIMIT) == 3
    after = rows(engine)
    assert {number: after[number] for number in (1, 2, 3, 4)} == {number: before[number] for number in (1, 2, 3, 4)}
    for number in (5, 6, 7):
        status, request, result = after[number]
        assert (status, request, json.loads(result)["error"]) == ("failed", {}, old_requests.DROPPED)
    assert old_requests.drop(engine, LIMIT) == 0


def test_more_than_one_transactions_worth_is_dropped_at_one_look(database: Any) -> None:
    engine, _ = database
    count = 2 * old_requests.AT_ONCE + 1
    add(engine, *(future(number, "forward", "completed", OLD) for number in range(1, count + 1)))
    assert old_requests.drop(engine, LIMIT) == count


def test_a_request_sent_again_is_the_same_one_while_it_is_kept_and_refused_and_never_worked_on_after(database: Any) -> None:
    from fastapi import HTTPException
    from skyrl.tinker.api import create_future
    from skyrl.tinker.types import AdamParams, OptimStepInput, RequestType
    from sqlalchemy.ext.asyncio import create_async_engine
    from sqlmodel.ext.asyncio.session import AsyncSession

    engine, path = database
    step = OptimStepInput(adam_params=AdamParams(learning_rate=1e-3, beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.0))
    sent = {"request_data": step.model_dump(mode="json")}
    add(engine, future(1, "optim_step", "completed", FRESH, **sent), future(2, "optim_step", "completed", OLD, **sent))
    old_requests.drop(engine, LIMIT)

    async def send_again(seq_id: int) -> int:
        async_engine = create_async_engine(f"sqlite+aiosqlite:///{path}")
        async with AsyncSession(async_engine) as session:
            try:
                return await create_future(session, RequestType.OPTIM_STEP, "m", step, seq_id)
            finally:
                await async_engine.dispose()

    assert asyncio.run(send_again(1)) == 1
    with pytest.raises(HTTPException) as raised:
        asyncio.run(send_again(2))
    assert raised.value.status_code == 409
    assert len(rows(engine)) == 2


def test_the_file_stops_growing(database: Any) -> None:
    engine, path = database
    payload = {"data": "x" * 100_000}
    sizes = []
    for group in range(6):
        start = 20 * group + 1
        add(engine, *(future(number, "forward", "completed", OLD, request_data=payload) for number in range(start, start + 20)))
        old_requests.drop(engine, LIMIT)
        sizes.append(path.stat().st_size)
    # 12 MB went through it.
    assert sizes[-1] < 1.1 * sizes[1] < 6e6
