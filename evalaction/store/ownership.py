"""Whose files they are: what root writes into somebody else's folder is handed back."""

from __future__ import annotations

import os
from pathlib import Path


def hand_back(workspace: Path, *folders: Path) -> None:
    """Give what we wrote below `folders` to the owner of the workspace. Only root can, and only root has to; links are not followed."""
    if os.geteuid() != 0:
        return
    owner = workspace.stat()
    if owner.st_uid == 0:
        return
    for folder in folders:
        if folder.is_dir() and not folder.is_symlink():
            _give(folder, owner.st_uid, owner.st_gid)
            for parent in folder.parents:  # made on the way
                if parent == workspace or not parent.is_relative_to(workspace):
                    break
                os.chown(parent, owner.st_uid, owner.st_gid, follow_symlinks=False)


def _give(folder: Path, user: int, group: int) -> None:
    os.chown(folder, user, group, follow_symlinks=False)
    for root, folders, files in os.walk(folder):
        for name in (*folders, *files):
            os.chown(Path(root) / name, user, group, follow_symlinks=False)
