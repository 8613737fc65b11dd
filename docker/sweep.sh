#!/usr/bin/env bash
# Tries server settings on one batch, each on a server of its own, and takes the stack down at the end: behind `make sweep`.
#   docker/sweep.sh ARGUMENT...         more flags of `python3 -m bench sweep`, which needs of this machine only Python and Docker
#   docker/sweep.sh scale ARGUMENT...   the same of `python3 -m bench scale`, on all GPUs that there are: behind `make scale`
set -euo pipefail
cd "$(dirname "$0")/.."
source docker/stack.sh
what=sweep
[[ ${1-} != scale ]] || { what=scale && shift; }

finish() {
  local code=$?
  trap - EXIT INT TERM
  compose --progress quiet down --remove-orphans --timeout 5 || true
  # What this machine's root wrote belongs to whom the containers' files belong to.
  [[ $(id -u) != 0 ]] || chown -R "$BENCH_UID:$BENCH_GID" "$results"/{runs,sweep,sweep-logs,presets,scale} "$results"/last_{sweep,scale}.json 2>/dev/null || true
  exit "$code"
}

check_settings
# Settings of this command's own shell that make bench takes and this does not; those in .env are for both.
if [[ $what == sweep ]]; then
  for name in STEPS PRESET BACKEND_CONFIG BENCH_ARGS REPEAT; do
    [[ -z ${!name-} ]] || echo "$name is not taken by make sweep: its settings are SWEEP's, its other flags SWEEP_ARGS's, such as SWEEP_ARGS='--steps 8'." >&2
  done
fi
need_docker
python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
  die 2 "make $what needs Python 3.10 or newer on this machine, to start one server after another." "Install it (Debian, Ubuntu: apt-get install python3)."
own_results
results=$(setting RESULTS ./results)
folder=$results
[[ $what == sweep ]] || folder=$results/scale
mkdir -p "$folder"/{sweep/runs,sweep/batches,sweep-logs}
[[ $what == scale ]] || mkdir -p "$folder/presets"
[[ $(id -u) != 0 ]] || chown -R "$BENCH_UID:$BENCH_GID" "$folder/sweep"
build bench
pick_stack gspo-bench-client
build server
GSPO_BENCH_SERVER_IMAGE=$(image_id "gspo-bench-server:$STACK")
GSPO_BENCH_CLIENT_IMAGE=$(image_id gspo-bench-client)
gpus=
[[ $what == sweep ]] || gpus=all
MODEL=$(setting MODEL "") GPUS=$(setting GPUS "$gpus") NODES=$(setting NODES "") PORT=$(setting PORT 8000)
export GSPO_BENCH_SERVER_IMAGE GSPO_BENCH_CLIENT_IMAGE MODEL GPUS NODES PORT
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

case $STACK in
  cpu) settings=cpu max_tokens=96 ;;
  *) settings=l4 max_tokens=512 ;;
esac
# As a shell would read them, quotes included.
what_to_take=() # before the flags: behind one that is misspelt it would be taken for its value
if [[ $what == sweep ]]; then
  what_to_take=("$(setting SWEEP "$settings")")
  flags=$(setting SWEEP_ARGS "")
else
  PRESET=$(setting PRESET "")
  export PRESET
  flags=$(setting SCALE_ARGS "")
fi
mapfile -t more < <(xargs -n 1 printf '%s\n' <<<"$flags")
# In the background, so that a signal to this script is heard at once; the sweep ends by keeping its rows.
python3 -m bench "$what" ${what_to_take[0]:+"${what_to_take[@]}"} --results "$results" --run-args "--max-tokens $(setting MAX_TOKENS "$max_tokens")" ${more[0]:+"${more[@]}"} "$@" &
sweep=$!
trap 'kill -TERM "$sweep" 2>/dev/null' INT TERM HUP
code=0
wait "$sweep" || code=$?
while kill -0 "$sweep" 2>/dev/null; do
  code=0
  wait "$sweep" || code=$?
done
[[ $code == 0 ]] || exit "$code"
compose --progress quiet run --rm --no-deps --no-TTY plots
