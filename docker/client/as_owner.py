"""The client image's entry: `python -m ...`, and never as a root that may do more than others.

compose starts it as root where nobody said whose the results are (`docker compose up` alone). It becomes whoever the results folder
belongs to before any other code runs: in a clone of root's that is root without a single capability, who writes only what is root's.
"""

import contextlib
import ctypes
import os
import sys
from pathlib import Path

RESULTS = Path("/results")
CAPABILITY_VERSION_3 = 0x20080522


def become_owner(folder: Path) -> None:
    """Takes the folder's owner and group and drops all capabilities; does nothing where this is not root."""
    if os.geteuid() != 0:
        return
    found = folder.stat()
    if (found.st_uid, found.st_gid) != (os.getuid(), os.getgid()):
        # Without the right to it this stays as it is, and bench says whose the folder is.
        with contextlib.suppress(PermissionError):
            os.setgroups([])
            os.setresgid(found.st_gid, found.st_gid, found.st_gid)
            os.setresuid(found.st_uid, found.st_uid, found.st_uid)
    _drop_capabilities()


def _drop_capabilities() -> None:
    """Root keeps them over a change to root. Under no-new-privileges no later program gets them back."""
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    if ctypes.CDLL(None, use_errno=True).capset(header, nothing) != 0:
        raise OSError(ctypes.get_errno(), "cannot drop capabilities")


if __name__ == "__main__":
    become_owner(RESULTS)
    os.execv(sys.executable, [sys.executable, "-m", *sys.argv[1:]])
