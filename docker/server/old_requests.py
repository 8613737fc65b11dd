"""Takes out of SkyRL's database what finished requests carried, once no client can ask for it again: SkyRL itself keeps all of it.

The rows stay, small: a request that is sent again under its old number is refused and never worked on twice.
"""

import logging
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

LOOK_EVERY_S = 30.0
# In one transaction: the engine and the API wait for it.
AT_ONCE = 20
DROPPED = "this result was dropped after its time: ask for a result soon after its request"
logger = logging.getLogger("skyrl.gspo_bench.old_requests")


def start(database_url: str, keep_s: float) -> None:
    """Drops what is older, every half a minute while this process lives."""
    threading.Thread(target=_work, args=(database_url, keep_s), name="old-requests", daemon=True).start()


def drop(db_engine: Any, finished_before: datetime) -> int:
    """Takes request and result out of what finished before; how many requests that were.

    Such a request is a failed one from then on: whoever asks for its result is told that it is gone.
    """
    from skyrl.tinker.db_models import FutureDB, RequestStatus
    from skyrl.tinker.types import ErrorResponse, RequestType
    from sqlmodel import Session, select, update

    large = (RequestType.FORWARD_BACKWARD, RequestType.FORWARD, RequestType.OPTIM_STEP, RequestType.SAMPLE, RequestType.EXTERNAL)
    old = (
        select(FutureDB.request_id)
        .where(FutureDB.status == RequestStatus.COMPLETED, FutureDB.request_type.in_(large), FutureDB.completed_at < finished_before)
        .limit(AT_ONCE)
    )
    gone = {
        "request_data": {},
        "result_data": ErrorResponse(error=DROPPED, status="error").model_dump_json(),
        "status": RequestStatus.FAILED,
    }
    dropped = 0
    while True:
        with Session(db_engine) as session:
            ids = session.exec(old).all()
            if not ids:
                return dropped
            session.exec(update(FutureDB).where(FutureDB.request_id.in_(ids)).values(**gone))
            session.commit()
        dropped += len(ids)


def _work(database_url: str, keep_s: float) -> None:
    from skyrl.tinker.db_models import enable_sqlite_wal
    from sqlalchemy.exc import SQLAlchemyError
    from sqlmodel import create_engine

    db_engine = create_engine(database_url)
    enable_sqlite_wal(db_engine)
    stopped = threading.Event()
    while not stopped.wait(LOOK_EVERY_S):
        try:
            if dropped := drop(db_engine, datetime.now(UTC) - timedelta(seconds=keep_s)):
                logger.info("dropped the data of %d requests that finished more than %.0f s ago", dropped, keep_s)
        except SQLAlchemyError as error:  # such as a lock that was not freed in time: the next look does it
            logger.warning("could not drop old requests: %s", str(error).split("\n", 1)[0])
