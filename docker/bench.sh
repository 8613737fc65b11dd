#!/usr/bin/env bash
# Brings the stack up, measures, draws, takes the stack down: behind `make bench`. The exit code is the benchmark's.
#   docker/bench.sh               the benchmark and its plots
#   docker/bench.sh --repeat N    the same N times, each on a fresh server (see repeat.sh)
#   docker/bench.sh learn         a learning run and its plots; its checkpoints outlive the stack
#   docker/bench.sh COMMAND ...   another command of python -m bench against the same stack, such as verify
set -euo pipefail
cd "$(dirname "$0")/.."
source docker/stack.sh
check_settings

if [[ ${1-} == --repeat ]]; then
  exec docker/repeat.sh "${2-}"
elif [[ $# == 0 && $(setting REPEAT 1) != 1 ]]; then
  exec docker/repeat.sh "$(setting REPEAT 1)"
fi

finish() {
  local code=$?
  trap - EXIT
  trap '' INT TERM HUP # not to be cut short: it takes seconds
  stop_bench
  if [[ $code != 0 && -n ${server-} && $(docker inspect --format '{{.State.Running}}' "$server" 2>/dev/null) == false ]]; then
    ended=$(docker inspect --format '{{.State.ExitCode}}' "$server")
    code=3
    [[ $ended != 2 ]] || code=2 # it refused its settings
    echo "The server ended by itself, with exit code $ended." >&2
  fi
  if [[ $code == 137 ]]; then
    echo "The benchmark's container, $bench, was killed, as when memory runs out. What it had saved is under runs/ in the results." >&2
    [[ $asked != learn ]] || echo "Go on from the run's last checkpoint: LEARN_ARGS=--resume make learn" >&2
  fi
  # 1 and 3: it failed at a request, or does not answer. Its container's own log goes with it.
  if [[ ($code == 1 || $code == 3 || -n ${ended-}) && -n ${server-} ]]; then
    log=$(setting RESULTS ./results)/server.log
    docker logs "$server" >"$log" 2>&1 || true
    [[ $(id -u) != 0 ]] || chown "$BENCH_UID:$BENCH_GID" "$log" || true
    # At a failed request the benchmark has told what the server said.
    if [[ ${ended-} == 2 ]]; then
      sed -n '/^error: /,$p' "$log" >&2
    elif [[ $code == 3 ]] && said=$(fault "$log"); then
      echo "It says: $said" >&2
    fi
    echo "The server's whole log is in $log." >&2
  fi
  compose --progress quiet down --remove-orphans --timeout 5 ||
    { sleep 3 && compose --progress quiet down --remove-orphans --timeout 5; } ||
    echo "Not everything could be taken down, for the reason above: make down tries again." >&2
  exit "$code"
}

# Lets the benchmark save what it measured, where it still runs: ten seconds of the thirty that a spot machine's notice leaves.
stop_bench() {
  docker stop -t 10 "$bench" >/dev/null 2>&1 || true
}

# Ends the benchmark soon after the server: it cannot tell one that will never answer from one that has not yet.
watch_server() {
  docker wait "$server" && sleep 3 && docker kill --signal USR1 "$bench"
}

# A second one would share the first one's server and take it down.
check_alone() {
  local service running
  for service in bench learn; do
    running=$(docker ps --quiet --filter "label=com.docker.compose.project=$(project)" --filter "label=com.docker.compose.service=$service")
    [[ -z $running ]] || die 2 "Another benchmark runs on this machine (container $running)." "Wait for its end, or end it: make down"
  done
}

# Runs a service to its end. On a terminal in the foreground; else so that a signal to this script is heard at once, not at its end.
run() { # ARGUMENT...
  if [[ -t 0 && -t 1 ]]; then
    compose run --rm --no-deps "$@"
  else
    # In a process group of its own, which a Ctrl-C to this script's does not reach.
    set -m
    compose run --rm --no-deps --no-TTY "$@" </dev/null &
    set +m
    local code=0
    wait $! || code=$?
    while kill -0 $! 2>/dev/null; do
      code=0
      wait $! || code=$?
    done
    return $code
  fi
}

asked=${1:-bench}
# Whatever else is asked of the server samples there.
[[ $asked == bench ]] || export ROLLOUTS=sampled
need_docker
own_results
build bench
pick_stack gspo-bench-client
bench=gspo-bench-run-$$
check_alone
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
build server
GSPO_BENCH_SERVER_IMAGE=$(image_id "gspo-bench-server:$STACK")
GSPO_BENCH_CLIENT_IMAGE=$(image_id gspo-bench-client)
export GSPO_BENCH_SERVER_IMAGE GSPO_BENCH_CLIENT_IMAGE

if [[ ${1-} == learn ]]; then
  SERVER_STATE=$(setting SERVER_STATE /cache/learn)
  export SERVER_STATE
  [[ $STACK == cuda ]] || PRESET=$(setting PRESET cpu-learn)
  SERVER_ROLLOUTS=often
  export PRESET SERVER_ROLLOUTS
  # A learning run ends after its step, and at once when told a second time.
  trap 'docker kill --signal INT "$bench" >/dev/null 2>&1 || exit 130' INT
fi
compose --progress quiet up --detach --no-build server || cannot_start "${1:-bench}"
server=$(compose ps --all --quiet server)
watch_server >/dev/null 2>&1 &

if [[ $# == 0 || $1 == learn ]]; then
  code=0
  run --name "$bench" "${1:-bench}" || code=$?
  # 5 and 6: a whole result, which speaks against itself.
  [[ $code == 0 || $code == 5 || $code == 6 ]] || exit "$code"
  server= # what becomes of it does not matter any more
  run plots
  exit "$code"
else
  run --name "$bench" bench bench "$1" --base-url http://server:8000 --results /results "${@:2}"
fi
