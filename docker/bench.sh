#!/usr/bin/env bash
# Brings the stack up, measures, draws, takes the stack down: behind `make bench`. The exit code is the benchmark's.
#   docker/bench.sh               the benchmark and its plots
#   docker/bench.sh --repeat N    the same N times, each on a fresh server (see repeat.sh)
#   docker/bench.sh learn         a learning run and its plots; its checkpoints outlive the stack
#   docker/bench.sh COMMAND ...   another command of python -m bench against the same stack, such as verify
set -euo pipefail
cd "$(dirname "$0")/.."
source docker/stack.sh

if [[ ${1-} == --repeat ]]; then
  exec docker/repeat.sh "${2-}"
elif [[ $# == 0 && $(setting REPEAT 1) != 1 ]]; then
  exec docker/repeat.sh "$(setting REPEAT 1)"
fi

finish() {
  local code=$?
  trap - EXIT INT TERM
  if [[ $code != 0 && -n ${server-} && $(docker inspect --format '{{.State.Running}}' "$server" 2>/dev/null) == false ]]; then
    ended=$(docker inspect --format '{{.State.ExitCode}}' "$server")
    code=3
    [[ $ended != 2 ]] || code=2 # it refused its settings
    echo "The server ended by itself, with exit code $ended." >&2
  fi
  if [[ ($code == 3 || -n ${ended-}) && -n ${server-} ]]; then
    echo "Its last lines:" >&2
    docker logs --tail 12 "$server" >&2 || true
  fi
  compose --progress quiet down --remove-orphans --timeout 5 || true
  exit "$code"
}

# Ends the benchmark soon after the server: it cannot tell one that will never answer from one that has not yet.
watch_server() {
  docker wait "$server" && sleep 3 && docker kill --signal USR1 "$bench"
}

need_docker
check_stack
own_results
build bench
pick_stack gspo-bench-client
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
build server
GSPO_BENCH_SERVER_IMAGE=$(image_id "gspo-bench-server:$STACK")
GSPO_BENCH_CLIENT_IMAGE=$(image_id gspo-bench-client)
export GSPO_BENCH_SERVER_IMAGE GSPO_BENCH_CLIENT_IMAGE

if [[ ${1-} == learn ]]; then
  SERVER_STATE=$(setting SERVER_STATE /cache/learn)
  export SERVER_STATE
  [[ $STACK == cuda ]] || PRESET=$(setting PRESET cpu-learn)
  export PRESET
fi
compose --progress quiet up --detach --no-build server ||
  die 1 "The server's container did not start, for the reason above." "make doctor says what this machine lacks."
server=$(compose ps --all --quiet server)
bench=gspo-bench-run-$$
watch_server >/dev/null 2>&1 &

run=(run --rm --no-deps)
[[ -t 0 && -t 1 ]] || run+=(--no-TTY)
if [[ $# == 0 || $1 == learn ]]; then
  compose "${run[@]}" --name "$bench" "${1:-bench}"
  compose "${run[@]}" plots
else
  compose "${run[@]}" --name "$bench" bench bench "$1" --base-url http://server:8000 --results /results "${@:2}"
fi
