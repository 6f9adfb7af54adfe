"""PostgreSQL refuses to run as root: where we are root, it runs as a user of its own."""

from __future__ import annotations

import os
import pwd
import stat
import subprocess
from pathlib import Path
from typing import TypedDict

NAMES = ("postgres", "pgserver")
FALLBACK = "nobody"


class RunAs(TypedDict, total=False):
    """Arguments of ``subprocess.run`` that change the user."""

    user: int
    group: int
    extra_groups: list[int]


def unprivileged_user(data: Path | None = None) -> pwd.struct_passwd | None:
    """None where we are not root; the owner of existing data; else PostgreSQL's user, made when missing."""
    if os.geteuid() != 0:
        return None
    if data is not None and data.exists() and (owner := data.stat().st_uid):
        return pwd.getpwuid(owner)
    for name in NAMES:
        if found := _user(name):
            return found
    subprocess.run(["useradd", "--system", NAMES[-1]], check=False, capture_output=True)
    return _user(NAMES[-1]) or pwd.getpwnam(FALLBACK)


def _user(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def as_user(user: pwd.struct_passwd | None) -> RunAs:
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}


def open_to(user: pwd.struct_passwd | None, *folders: Path) -> None:
    """Lets the user pass (not list) the way to the folders, and gives it those that hold data."""
    if user is None:
        return
    for folder in folders:
        for parent in folder.resolve().parents:
            mode = parent.stat().st_mode
            if not mode & stat.S_IXOTH:
                parent.chmod(mode | stat.S_IXOTH)
        if folder.stat().st_uid == 0 and folder.name != "bin":
            os.chown(folder, user.pw_uid, user.pw_gid)
