# shellcheck shell=bash
# What the scripts of this folder share: the settings, the stack, whose files the results are. Sourced from the repository's root.

die() { # CODE MESSAGE [ACTION]
  printf '%s\n' "${@:2}" >&2
  exit "$1"
}

# One setting: from the shell, else from .env, else the default, as compose reads it: past a byte order mark and Windows' line ends,
# with or without quotes, without a comment.
setting() { # NAME DEFAULT
  local value=${!1-}
  if [[ -z $value && -f .env ]]; then
    value=$(LC_ALL=C sed -n "1s/^\xef\xbb\xbf//; s/^[[:space:]]*\(export[[:space:]]\{1,\}\)\{0,1\}$1[[:space:]]*=[[:space:]]*//p" .env | tail -n 1 |
      sed "s/[[:space:]]*$//; /^[\"']/!s/[[:space:]]\{1,\}#.*$//; s/^\([\"']\)\(.*\)\1\([[:space:]]*#.*\)\{0,1\}$/\2/")
  fi
  echo "${value:-$2}"
}

need_docker() {
  command -v docker >/dev/null || die 3 "Docker is not installed." "Install it: https://docs.docker.com/engine/install/"
  docker compose version >/dev/null 2>&1 || die 3 "Docker's compose plugin is not installed." "Install it: https://docs.docker.com/compose/install/linux/"
  docker info >/dev/null 2>&1 || die 3 "Docker's engine does not answer, or not to you." "Start it, or see what \`docker info\` says."
  compose config --quiet || die 2 "Docker's compose cannot take the settings, for the reason above." "See .env.example for what each can be."
}

# Ends with a word where a setting that compose puts into its files cannot be: compose says no more than that a file is wrong.
check_settings() {
  local port gpus rollouts
  [[ $(project) =~ ^[a-z0-9][a-z0-9_-]*$ ]] ||
    die 2 "COMPOSE_PROJECT_NAME is '$(project)'; Docker's compose takes small letters, digits, - and _." "Leave it out, or write it in small letters."
  rollouts=$(setting ROLLOUTS sampled)
  [[ $rollouts == sampled || $rollouts == shipped ]] || die 2 "ROLLOUTS is '${rollouts:0:40}'." "Give sampled or shipped, or leave it out: the server samples then."
  port=$(setting PORT 8000) gpus=$(setting GPUS 1)
  is_whole "$port" 65535 || die 2 "PORT is '${port:0:40}'." "Give a whole number from 1 to 65535, or leave it out: it is 8000 then."
  [[ $gpus == all ]] || is_whole "$gpus" 1024 || die 2 "GPUS is '${gpus:0:40}'." "Give a whole number from 1 to 1024, or all."
  check_stack
}

is_whole() { # TEXT MOST
  [[ $1 =~ ^0*([1-9][0-9]{0,8})$ ]] && ((BASH_REMATCH[1] <= $2))
}

# Whether something of this machine answers on a port.
listens() { # PORT
  (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# Ends with what to do about a server's container that compose could not start: most often something else has its port.
cannot_start() { # TARGET
  local port other
  port=$((10#$(setting PORT 8000)))
  listens "$port" || die 1 "The server's container did not start, for the reason above." "make doctor says what this machine lacks."
  other=$((port + 1))
  while ((other < 65535)) && listens "$other"; do other=$((other + 1)); done
  die 1 "Port $port of this machine is taken by something else." "Take another: PORT=$other make $1"
}

# The name of what runs, as compose takes it.
project() {
  setting COMPOSE_PROJECT_NAME gspo-bench
}

# Both stacks are one project, so that one `down` ends either.
compose() {
  local files=(-f compose.yaml)
  [[ ${STACK-} == cpu ]] && files+=(-f compose.cpu.yaml)
  docker compose "${files[@]}" "$@"
}

# Builds a service's image: at once when nothing changed. Where nobody watches, without the hundred lines of progress.
build() { # SERVICE
  local quiet=--quiet
  if [[ -t 1 ]]; then quiet=; else echo "Building the image of $1, if anything changed."; fi
  compose build ${quiet:+"$quiet"} "$1" ||
    die 1 "The image of $1 could not be built, for the reason above." "make doctor says what this machine lacks; BASE_IMAGE names another base image, see .env.example."
}

image_id() { # IMAGE
  docker image inspect --format '{{.Id}}' "$1"
}

# Results belong to whoever calls, also through sudo. Root itself runs the containers as user 1000, who may then write there; under
# a rootless engine the container's root is the caller.
own_results() {
  local results
  results=$(setting RESULTS ./results)
  mkdir -p "$results/runs" 2>/dev/null || die 2 "The results folder $results cannot be made or written to." "Name another: RESULTS=./elsewhere make bench"
  BENCH_UID=$(setting BENCH_UID "${SUDO_UID:-$(id -u)}")
  BENCH_GID=$(setting BENCH_GID "${SUDO_GID:-$(id -g)}")
  if docker info --format '{{.SecurityOptions}}' | grep -q rootless; then
    BENCH_UID=0 BENCH_GID=0
  elif [[ $BENCH_UID == 0 ]]; then
    BENCH_UID=1000 BENCH_GID=1000
  fi
  if [[ $(id -u) == 0 ]]; then
    chown "$BENCH_UID:$BENCH_GID" "$results"
    # What was written there as root, which `docker compose up` is in root's clone; never another file through a hard link.
    find "$results"/{runs,batches} -user 0 \( -type d -o -links 1 \) -exec chown -h "$BENCH_UID:$BENCH_GID" {} + 2>/dev/null || true
  fi
  export BENCH_UID BENCH_GID
}

# Ends with a word where STACK is neither stack.
check_stack() {
  case $(setting STACK "") in
    "" | cpu | cuda) ;;
    *) die 2 "STACK is '$(setting STACK "")'." "Give cpu or cuda, or leave it out: a GPU that works decides." ;;
  esac
}

# What a server's log says went wrong, in one line.
fault() { # LOG
  docker run --rm --interactive --network none --read-only --cap-drop ALL --security-opt no-new-privileges gspo-bench-client bench.fault <"$1"
}

# Whether a container of IMAGE really gets an NVIDIA GPU.
gives_gpu() { # IMAGE
  docker run --rm --network none --gpus all --entrypoint true "$1" >/dev/null 2>&1
}

# Sets STACK: as asked for, else cuda where a container of IMAGE really gets an NVIDIA GPU.
pick_stack() { # IMAGE
  STACK=$(setting STACK "")
  if [[ $STACK == cuda ]]; then
    gives_gpu "$1" || die 2 "STACK is cuda, and Docker can give a container no NVIDIA GPU here." "make doctor says what is missing; STACK=cpu runs without one."
    echo "Stack: cuda, as asked for."
  elif [[ -n $STACK ]]; then
    echo "Stack: $STACK, as asked for."
  elif gives_gpu "$1"; then
    STACK=cuda
    echo "Stack: cuda, on this machine's NVIDIA GPU. (STACK=cpu runs without it.)"
  else
    STACK=cpu
    echo "Stack: cpu, for Docker can give a container no NVIDIA GPU here. (STACK=cuda insists; make doctor says what is missing.)"
  fi
  export STACK
}
