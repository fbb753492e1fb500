"""Podman in the place of docker, and the image of this checkout; where that cannot be had, `Unavailable` says why."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IMAGE, BASE = "localhost/eval-gate:test", "localhost/eval-gate-base:test"
SHIM = """#!/usr/bin/env bash
# Both speak the same language but for one question. In bash, because sh would drop the names with dashes.
case "$*" in "info --format {{.OSType}}") echo linux ;; *) exec podman "$@" ;; esac
"""
UNREACHABLE = re.compile(r"NewConnectionError|Temporary failure|Could not resolve|No matching distribution|Unable to locate package|Network is unreachable")
LIMITS = '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n[engine]\nevents_logger = "file"\n'
"""Podman would raise limits, which a sandbox without that right refuses."""


class Unavailable(Exception):
    """The image cannot be built or run on this machine, for the reason given."""


def missing():
    """What this machine lacks for containers; empty when it has all."""
    if os.geteuid() != 0:
        return "root, without which podman cannot map the runner's user"
    lacking = [name for name in ("podman", "buildah") if shutil.which(name) is None]
    return f"{' and '.join(lacking)} on the PATH" if lacking else ""


def built(folder):
    """The id of the image of this checkout; podman's settings go into `folder` and the environment. Raises Unavailable, and AssertionError when the Dockerfile is at fault."""
    if lacking := missing():
        raise Unavailable(f"this machine lacks {lacking}")
    (folder / "containers.conf").write_text(LIMITS)
    os.environ["CONTAINERS_CONF"] = str(folder / "containers.conf")
    _base()
    command = ["buildah", "bud", "--isolation", "chroot", "--pull-never", "-v", "/etc/ssl/certs:/etc/ssl/certs:ro", "--build-arg", f"BASE={BASE}", "-t", IMAGE, str(ROOT)]
    done = _said(*command)
    if done.returncode != 0 and UNREACHABLE.search(done.stderr):
        raise Unavailable(f"a build cannot reach the package indexes here: {done.stderr[-300:]}")
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.split()[-1]


def shim(folder):
    """A folder for the front of the PATH, with a `docker` that is podman."""
    folder.mkdir()
    (folder / "docker").write_text(SHIM)
    (folder / "docker").chmod(0o755)
    return folder


def _base():
    if _said("podman", "image", "exists", BASE).returncode != 0:
        made = _said(str(ROOT / ".ci" / "base-image.sh"), BASE, _cpython())
        if made.returncode != 0:
            raise Unavailable(f"no base image can be had here: {made.stderr[-300:]}")
    works = _said("podman", "run", "--rm", "--network", "none", BASE, "true")
    if works.returncode != 0:
        raise Unavailable(f"podman cannot run a container here: {works.stderr[-300:]}")


def _cpython():
    """A CPython whose folder stands for the official image's, where no registry answers: another release than this one is as good."""
    done = _said("pyenv", "prefix", "3.12.1") if shutil.which("pyenv") else None
    return done.stdout.strip() if done and done.returncode == 0 else str(Path(sys.base_prefix).resolve())


def _said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)
