"""Frees the models of clients that died before their first heartbeat: SkyRL 0.4.0 looks only at sessions that had one."""

from datetime import UTC, datetime, timedelta
from typing import Any


def install(engine_class: Any) -> None:
    """Makes the engine count a session without a heartbeat from its making. Raises ImportError for an engine of another shape."""
    clean_up = getattr(engine_class, "cleanup_stale_sessions", None)
    if not callable(clean_up):
        raise ImportError("SkyRL's engine has no cleanup_stale_sessions.")

    def cleanup_stale_sessions(self: Any) -> int:
        mark(self.db_engine, datetime.now(UTC) - timedelta(seconds=self.config.session_timeout_sec))
        return int(clean_up(self))

    engine_class.cleanup_stale_sessions = cleanup_stale_sessions


def mark(db_engine: Any, made_before: datetime) -> None:
    """Takes a session's making for its last heartbeat where it never had one. Not earlier: a heartbeat that moves is one that lives."""
    from skyrl.tinker.db_models import SessionDB
    from sqlmodel import Session, update

    never_seen = (SessionDB.status == "active", SessionDB.last_heartbeat_at.is_(None), SessionDB.created_at < made_before)
    with Session(db_engine) as session:
        session.exec(update(SessionDB).where(*never_seen).values(last_heartbeat_at=SessionDB.created_at))
        session.commit()
