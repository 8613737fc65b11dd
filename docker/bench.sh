#!/usr/bin/env bash
# Brings the stack up, measures, draws, takes the stack down: behind `make bench`. The exit code is the benchmark's.
#   docker/bench.sh               the benchmark and its plots
#   docker/bench.sh COMMAND ...   another command of python -m bench against the same stack, such as verify
set -euo pipefail
cd "$(dirname "$0")/.."
source docker/stack.sh

finish() {
  local code=$?
  trap - EXIT INT TERM
  if [[ $code != 0 && $code != 130 ]] && ! server_runs || [[ $code == 3 ]]; then
    echo "The server's last lines:" >&2
    compose logs --no-log-prefix --no-color --tail 25 server >&2 || true
  fi
  compose --progress quiet down --remove-orphans --timeout 5 || true
  exit "$code"
}

server_runs() {
  [[ -n $(compose ps --status running --quiet server 2>/dev/null) ]]
}

image_id() {
  docker image inspect --format '{{.Id}}' "$1"
}

need_docker
own_results
compose build bench
pick_stack gspo-bench-client
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
compose build server
GSPO_BENCH_SERVER_IMAGE=$(image_id "gspo-bench-server:$STACK")
GSPO_BENCH_CLIENT_IMAGE=$(image_id gspo-bench-client)
export GSPO_BENCH_SERVER_IMAGE GSPO_BENCH_CLIENT_IMAGE

compose --progress quiet up --detach --no-build server
run=(run --rm --no-deps)
[[ -t 0 && -t 1 ]] || run+=(--no-TTY)
if [[ $# == 0 ]]; then
  compose "${run[@]}" bench
  compose "${run[@]}" plots
else
  compose "${run[@]}" bench bench "$1" --base-url http://server:8000 --results /results "${@:2}"
fi
