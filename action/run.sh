#!/usr/bin/env bash
# Chooses where eval-gate runs, says which and why, and becomes it, so that the runner's signals arrive there.
#   run.sh           the run itself
#   run.sh finish    after a run that failed or died: completes the check that it left open
# The environment holds the inputs as INPUT_NAME with their dashes. bash hands such names on, though it cannot read them; sh would drop them.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
root=$(dirname "$here")
# shellcheck source=action/say.sh
source "$here/say.sh"
# shellcheck source=action/container.sh
source "$here/container.sh"
# shellcheck source=action/host.sh
source "$here/host.sh"

# What git says of every checkout in the workspace, for the refusal of a stranger's code beside secrets: a repository with parts elsewhere is unreadable inside the image.
checked_out() {
  [[ ${GITHUB_EVENT_NAME:-} == pull_request_target || ${GITHUB_EVENT_NAME:-} == workflow_run ]] || return 0
  EVAL_GATE_CHECKOUT=$(find "$GITHUB_WORKSPACE" -name .git -prune -print 2>/dev/null | while IFS= read -r place; do
    printf '%s\t%s\n' "${place%/.git}" "$(git_says "${place%/.git}" | tr -s '[:space:]' ' ')"
  done) || :
  export EVAL_GATE_CHECKOUT
}

# Prints the commit, its parents as it names them itself (a shallow clone hides them from git log), refs that point at it, and remotes without credentials.
git_says() {
  # git needs none of the inputs, of which one is the token.
  local -a ask=(env -i "PATH=$PATH" "HOME=${HOME:-/}" git -c 'safe.directory=*' -c core.fsmonitor=false --no-replace-objects -C "$1")
  {
    "${ask[@]}" rev-parse --verify --quiet HEAD
    "${ask[@]}" cat-file commit HEAD | sed -n -e '/^$/q' -e 's/^parent //p'
    "${ask[@]}" for-each-ref --points-at HEAD --format='%(refname)'
    "${ask[@]}" config --get-regexp '^remote\..*\.url$' | sed -e 's/^[^ ]* //' -e 's#^.*[/:]\([^/:]*/[^/:]*\)$#\1#'
  } 2>/dev/null || :
}

# A run that came to a verdict and left no note has no check open: then nothing needs to be started.
nothing_left() {
  [[ ${1:-} == finish && -n ${EVAL_GATE_VERDICT:-} ]] && ! compgen -G "${RUNNER_TEMP:-/nowhere}/eval-gate-results-*.check.json" >/dev/null
}

main() {
  local runtime reason system=${RUNNER_OS:-$(uname -s)}
  runtime=$(printf '%s' "${INPUT_RUNTIME:-auto}" | tr '[:upper:]' '[:lower:]' | tr -d '[:space:]')
  case "$system" in
    Linux | macOS | Darwin) ;;
    *) give_up config_error 2 "INVALID_INPUT: eval-gate needs a POSIX system, this runner's is $system. Fix: use runs-on: ubuntu-latest, or macos-latest" ;;
  esac
  : "${RUNNER_TEMP:=$(mktemp -d)}" "${GITHUB_WORKSPACE:=$PWD}"
  export RUNNER_TEMP GITHUB_WORKSPACE PYTHONDONTWRITEBYTECODE=1
  checked_out
  reason=$(why_no_container)
  case "$runtime" in
    container)
      [[ -z $reason ]] || give_up config_error 2 "INVALID_INPUT runtime: a container was asked for, but $reason. Fix: runtime: host, or auto"
      run_in_container "$@"
      ;;
    host)
      say "runtime: host, as asked for"
      run_on_host "$@"
      ;;
    # A word that is no runtime is refused by the program, together with all other faults.
    *)
      if [[ -n $reason ]]; then
        say "runtime: host, because $reason"
        run_on_host "$@"
      else
        say "runtime: container, because docker works here"
        run_in_container "$@"
      fi
      ;;
  esac
}

nothing_left "$@" || main "$@"
