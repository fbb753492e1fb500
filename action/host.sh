# shellcheck shell=bash disable=SC2154 # root and here are set by run.sh
# The host runtime: a virtual environment below RUNNER_TEMP with exactly the locked packages, made once a job.
# Isolated (-I): modules of the workspace, and what the job's PYTHON… variables name, must not stand in for the library's.

run_on_host() {
  local python place
  python=$(find_python) || give_up config_error 2 "INVALID_INPUT runtime: the host has no Python from 3.11 on. Fix: add actions/setup-python before this step, or use a runner with docker"
  place=$(place_for "$python")
  [[ -e $place/complete ]] || make_environment "$python" "$place"
  exec "$place/bin/python" -I "$root/entrypoint.py" "$@"
}

# Prints the environment's folder: another interpreter or lock has another one.
place_for() {
  local digest='import hashlib, pathlib, sys; print(hashlib.sha256(sys.version.encode() + pathlib.Path(sys.argv[1]).read_bytes()).hexdigest()[:16])'
  printf '%s/eval-gate-%s' "$RUNNER_TEMP" "$("$1" -I -c "$digest" "$root/requirements/image.txt")"
}

find_python() {
  local name
  for name in python3 python3.14 python3.13 python3.12 python3.11 python; do
    if command -v "$name" >/dev/null && "$name" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$name"
      return
    fi
  done
  return 1
}

make_environment() {
  say "installing the locked packages (once a job)"
  rm -rf "$2"
  if "$1" -I -m venv "$2" >&2 && "$2/bin/python" -I -m pip install --quiet --disable-pip-version-check --no-input --only-binary :all: --require-hashes -r "$root/requirements/image.txt" >&2; then
    touch "$2/complete"
    return
  fi
  rm -rf "$2"
  give_up not_measured 3 "the locked packages could not be installed, the reason stands above. Where no package index can be reached, use runtime: container with EVAL_GATE_IMAGE"
}
