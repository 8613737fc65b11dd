"""What a server that kept its state leaves of the one before: its checkpoints. Its sessions, requests and samplers' weights go."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

# SkyRL 0.4.0's tables. Requests that were never answered would be worked off by the new engine, for clients that are gone.
STATEMENTS = (
    "UPDATE sessions SET status = 'expired'",
    "UPDATE models SET status = 'unloaded'",
    "DELETE FROM futures",
    "DELETE FROM sampling_sessions",
    "DELETE FROM engine_state",
    "DELETE FROM checkpoints WHERE checkpoint_type = 'SAMPLER' OR status != 'COMPLETED'",
)


def settle(database: Path, checkpoints: Path) -> int:
    """Ends what the last server left open in its database and returns how many checkpoints can be loaded. None there is no error.

    Raises:
        sqlite3.Error: the file is no database, or has not SkyRL 0.4.0's tables.
    """
    for folder in checkpoints.glob("*/sampler_weights"):
        shutil.rmtree(folder, ignore_errors=True)
    if not database.exists():
        return 0
    with closing(sqlite3.connect(database)) as connection, connection:
        for statement in STATEMENTS:
            connection.execute(statement)
        return int(connection.execute("SELECT count(*) FROM checkpoints").fetchone()[0])
