"""What became of a model's requests, from SkyRL's database and the engine's spans: GET /gspo-bench/requests."""

from datetime import UTC, datetime
from typing import Any

from engine_spans import SpanReader

MOST = 1000


async def requests(db_engine: Any, spans: SpanReader, model_id: str, after: int) -> list[dict[str, Any]]:
    """The model's requests with an id above `after`, oldest first, at most MOST; every time in Unix seconds of this server's clock.

    `created_s` is when the API had stored the request, `start_s` and `end_s` the engine's work on it, None where it has not happened.
    """
    from skyrl.tinker.db_models import FutureDB
    from sqlmodel import select
    from sqlmodel.ext.asyncio.session import AsyncSession

    columns = (FutureDB.request_id, FutureDB.request_type, FutureDB.seq_id, FutureDB.status, FutureDB.created_at)
    query = select(*columns).where(FutureDB.model_id == model_id, FutureDB.request_id > after).order_by(FutureDB.request_id).limit(MOST)
    async with AsyncSession(db_engine) as session:
        rows = (await session.exec(query)).all()
    worked = spans.spans()
    found = []
    for request_id, kind, seq_id, status, created_at in rows:
        start_s, end_s = worked.get(request_id, (None, None))
        found.append(
            {
                "request_id": request_id,
                "type": getattr(kind, "value", kind),
                "seq_id": seq_id,
                "status": getattr(status, "value", status),
                "created_s": unix_s(created_at),
                "start_s": start_s,
                "end_s": end_s,
            }
        )
    return found


def unix_s(moment: datetime) -> float:
    """Unix seconds of a time that SQLite hands out in UTC without a zone."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
