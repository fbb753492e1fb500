# shellcheck shell=bash
# How the scripts speak: plain lines on stderr, and the end of a run that could not begin.

say() { printf 'eval-gate: %s\n' "$1" >&2; }

# give_up VERDICT CODE WHAT: the outputs and the last line that the program itself would have written, then the exit code.
give_up() {
  if [[ -n ${GITHUB_OUTPUT:-} ]]; then
    printf 'verdict=%s\nexit-code=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"
  fi
  say "$3"
  if [[ $2 == 2 ]]; then
    say "$1 (exit $2): a person must change something before this can be judged"
  else
    say "$1 (exit $2): could not be measured or compared; this is not a verdict on the change"
  fi
  exit "$2"
}
