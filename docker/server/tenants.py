"""Who holds a model on this server, from SkyRL's own database: GET /gspo-bench/tenants."""

from datetime import UTC, datetime
from typing import Any


def seconds_until(timeout_s: float, last_seen: datetime | None, created: datetime, now: datetime) -> float:
    """Seconds until a session that was last seen then counts as left; SQLite hands out its UTC times without a zone."""
    return round(max(0.0, timeout_s - (now - _utc(last_seen or created)).total_seconds()), 1)


async def tenants(db_engine: Any, timeout_s: float, sweep_s: float) -> list[dict[str, Any]]:
    """The models that were made or are being made, whose session is active, oldest first.

    Their expires_in_s is when they are gone at the latest if the session stays silent: its timeout, then the next sweep.
    """
    from skyrl.tinker.db_models import FutureDB, ModelDB, RequestStatus, SessionDB
    from sqlmodel import select
    from sqlmodel.ext.asyncio.session import AsyncSession

    refused = select(FutureDB.request_id).where(FutureDB.status == RequestStatus.FAILED)  # SkyRL keeps a row for these too
    query = (
        select(ModelDB, SessionDB)
        .join(SessionDB, ModelDB.session_id == SessionDB.session_id)
        .where(ModelDB.status != "unloaded", SessionDB.status == "active", ModelDB.request_id.not_in(refused))
        .order_by(ModelDB.created_at)
    )
    async with AsyncSession(db_engine) as session:
        rows = (await session.exec(query)).all()
    now = datetime.now(UTC)
    return [
        {
            "model_id": model.model_id,
            "session_id": owner.session_id,
            "created_at": _utc(model.created_at).isoformat(),
            "last_heartbeat_at": _utc(owner.last_heartbeat_at).isoformat() if owner.last_heartbeat_at else None,
            "expires_in_s": seconds_until(timeout_s + sweep_s, owner.last_heartbeat_at, owner.created_at, now),
            "user_metadata": owner.user_metadata or {},
        }
        for model, owner in rows
    ]


def _utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
