# shellcheck shell=bash disable=SC2154 # root, here, runtime and reason are set by run.sh
# The container runtime: which image, what it may see, and `docker run` in place of this process.

# Prints why the container runtime cannot be used here; nothing when it can.
why_no_container() {
  local system
  case "${RUNNER_OS:-$(uname -s)}" in
    Linux) ;;
    *) echo "containers of Linux run on Linux runners only" && return ;;
  esac
  if [[ $GITHUB_WORKSPACE == /__w/* ]]; then
    echo "the job itself runs in a container, whose folders docker does not see" && return
  fi
  if [[ ${DOCKER_HOST:-} == tcp://* || ${DOCKER_HOST:-} == ssh://* ]]; then
    echo "docker is on another machine (DOCKER_HOST), which does not see this one's folders" && return
  fi
  command -v docker >/dev/null || { echo "there is no docker" && return; }
  system=$(docker info --format '{{.OSType}}' 2>/dev/null) || system=
  [[ $system == linux ]] || echo "docker does not answer"
}

# run_in_container [ARGUMENT]...: ends as the program in the image does.
run_in_container() {
  local image
  remove_orphans "$@"
  image=$(image_for "$@") || give_up not_measured 3 "there is no image, the reasons stand above; runtime: host needs none"
  if ! sees_folders "$image"; then
    reason="the runner is itself in a container whose folders docker does not see"
    [[ $runtime != container ]] || give_up config_error 2 "INVALID_INPUT runtime: a container was asked for, but $reason. Fix: runtime: host, or auto"
    say "runtime: host instead, because $reason"
    run_on_host "$@"
  fi
  local -a options=() mounted=()
  collect_options
  collect_variables
  exec docker run "${options[@]}" "$image" "$@"
}

# A runner that is a container has its folders where docker does not look for them, unless both have them at the same path. What docker says of it stands in the log.
sees_folders() {
  [[ -e /.dockerenv ]] || return 0
  docker run --rm --network none --mount "type=bind,source=$RUNNER_TEMP,target=/temp,readonly" --entrypoint /bin/sh "$1" -c : >&2
}

# A run whose `docker` was killed leaves its container behind; it must not go on measuring.
remove_orphans() {
  [[ ${1:-} == finish ]] || return 0
  docker ps --quiet --filter "label=eval-gate=$(label)" | while IFS= read -r orphan; do
    docker kill "$orphan" >/dev/null && say "ended the container of the run that died"
  done
}

label() { printf '%s.%s.%s.%s' "${GITHUB_RUN_ID:-0}" "${GITHUB_RUN_ATTEMPT:-0}" "${GITHUB_JOB:-job}" "${EVAL_GATE_KEY:-}" | tr -c 'A-Za-z0-9._-' '-'; }

# Prints the image to run. `finish` takes the one that the run before it pulled, and nothing stands in for one that the workflow names.
image_for() {
  local name
  name=$(published_name)
  if [[ -z $name ]]; then
    say "image: built from the Dockerfile, because the Action is used from a folder"
  elif is_here "$name" "$@" || docker pull --quiet "$name" >/dev/null; then
    say "image: $name"
    printf '%s' "$name"
    return
  elif [[ -n ${EVAL_GATE_IMAGE:-} ]]; then
    return 1
  else
    say "image: built from the Dockerfile, because $name could not be pulled"
  fi
  docker build --quiet "$root" | tail -n 1
}

# A tag may have moved since it was pulled, so that only `finish`, a digest or the workflow's own image spare asking for it.
is_here() {
  [[ ${2:-} == finish || -n ${EVAL_GATE_IMAGE:-} || $1 == *@sha256:* ]] && docker image inspect "$1" >/dev/null 2>&1
}

# Prints the name of the prebuilt image; nothing for a folder of the workspace. A mirror named by the workflow wins, then the digest that the release committed.
published_name() {
  local repository ref=${EVAL_GATE_ACTION_REF:-}
  repository=$(printf '%s' "${EVAL_GATE_ACTION_REPOSITORY:-}" | tr '[:upper:]' '[:lower:]')
  if [[ -n ${EVAL_GATE_IMAGE:-} ]]; then
    printf '%s' "$EVAL_GATE_IMAGE"
  elif [[ -z $repository || -z $ref ]]; then
    return 0
  elif [[ -s $root/action/image-digest ]]; then
    printf 'ghcr.io/%s@%s' "$repository" "$(tr -d '[:space:]' <"$root/action/image-digest")"
  else
    printf 'ghcr.io/%s:%s' "$repository" "$(printf '%s' "$ref" | tr -c 'A-Za-z0-9._-' '-' | cut -c1-128)"
  fi
}

collect_options() {
  local home=$RUNNER_TEMP/eval-gate-home user
  mkdir -p "$home/tmp"
  user="$(id -u):$(id -g)"
  # Without root the container's root is this user, and any other number is nobody's.
  [[ $(docker info --format '{{.SecurityOptions}}') == *rootless* ]] && user=0:0
  # shellcheck disable=SC2054 # the commas belong to docker
  options=(--rm --init --network host --user "$user" --read-only --tmpfs /tmp:rw,exec,nosuid,nodev,size=512m --cap-drop ALL --security-opt no-new-privileges
    --label "eval-gate=$(label)" --workdir "$GITHUB_WORKSPACE" -e "HOME=$home" -e "TMPDIR=$home/tmp")
  mount_folder "$GITHUB_WORKSPACE"
  mount_folder "$RUNNER_TEMP"
  local file
  for file in "${GITHUB_OUTPUT:-}" "${GITHUB_STEP_SUMMARY:-}" "${GITHUB_EVENT_PATH:-}"; do
    [[ -z $file || ! -e $file ]] || mount_folder "$(dirname "$file")"
  done
}

# Mounts a folder at its own path, unless it lies in one that is mounted. A --mount refuses a folder that is not there, where -v would make it as root.
mount_folder() {
  local other
  for other in ${mounted[@]+"${mounted[@]}"}; do
    [[ $1/ == "$other"/* ]] && return
  done
  mounted+=("$1")
  options+=(--mount "type=bind,source=$1,target=$1")
}

# Variables go in by name alone: no value stands in a command line, and line breaks survive. The token and what pass-env names go in by a file that the
# program removes when it has read it: the container's first process shows all others what it was started with.
collect_variables() {
  local pair wanted='' handed
  rm -f "$RUNNER_TEMP"/eval-gate-handed.*
  handed=$(umask 077 && mktemp "$RUNNER_TEMP/eval-gate-handed.XXXXXXXX")
  while IFS= read -r -d '' pair; do
    [[ $pair != INPUT_PASS-ENV=* ]] || wanted=" $(printf '%s' "${pair#*=}" | tr ',\n\t\r' '    ') "
  done < <(env -0)
  while IFS= read -r -d '' pair; do
    if is_secret "${pair%%=*}"; then
      printf '%s\0' "$pair" >>"$handed"
    elif passes "${pair%%=*}"; then
      options+=(-e "${pair%%=*}")
    fi
  done < <(env -0)
  options+=(-e "EVAL_GATE_HANDED=$handed")
  pass_certificates
}

is_secret() { [[ $1 == INPUT_GITHUB-TOKEN ]] || named "$1"; }

# What the program needs to know. What the workflow names in pass-env is taken before; a name that is no variable's is refused by the program.
passes() {
  case "$1" in
    GITHUB_ENV | GITHUB_PATH | GITHUB_STATE) return 1 ;;
    GITHUB_*TOKEN* | GITHUB_*SECRET* | GITHUB_*PASSWORD* | RUNNER_*TOKEN* | EVAL_GATE_HANDED) return 1 ;;
    INPUT_* | EVAL_GATE_* | GITHUB_* | RUNNER_* | CI) return 0 ;;
    HTTP_PROXY | HTTPS_PROXY | NO_PROXY | ALL_PROXY | http_proxy | https_proxy | no_proxy | all_proxy) return 0 ;;
    *) return 1 ;;
  esac
}

named() {
  [[ $1 =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]] || return 1
  # The image's own: another PATH or HOME would break it.
  case "$1" in GITHUB_ENV | GITHUB_PATH | GITHUB_STATE | EVAL_GATE_HANDED) return 1 ;; PATH | HOME | TMPDIR | PYTHON* | LD_*) return 1 ;; esac
  [[ $wanted == *" $1 "* ]]
}

pass_certificates() {
  local name
  for name in SSL_CERT_FILE REQUESTS_CA_BUNDLE; do
    if [[ -f ${!name:-} ]]; then
      options+=(-e "$name" --mount "type=bind,source=${!name},target=${!name},readonly")
    fi
  done
}
