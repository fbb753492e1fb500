"""Files of root in somebody else's workspace."""

from __future__ import annotations

import os

import pytest

from evalaction.store.ownership import hand_back

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def test_hand_back__everything_that_was_made_belongs_to_the_owner(tmp_path):
    """Results, the folders made on the way to them and links themselves are handed back; what a link leads to is left alone (P141)."""
    workspace, elsewhere = tmp_path / "workspace", tmp_path / "elsewhere"
    (workspace / "out" / "here" / "cases").mkdir(parents=True)
    (workspace / "out" / "here" / "cases" / "a.json").write_text("{}")
    elsewhere.mkdir()
    (workspace / "out" / "here" / "link").symlink_to(elsewhere)
    os.chown(workspace, 1001, 1001)
    hand_back(workspace, workspace / "out" / "here", workspace / "not there")
    assert {path.lstat().st_uid for path in workspace.rglob("*")} == {1001}
    assert elsewhere.stat().st_uid == 0


def test_hand_back__workspace_of_root_stays_as_it_is(tmp_path):
    """Where root owns the workspace nothing changes hands."""
    (tmp_path / "out").mkdir()
    hand_back(tmp_path, tmp_path / "out")
    assert (tmp_path / "out").stat().st_uid == 0
