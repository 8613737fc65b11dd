#!/usr/bin/env bash
# Measures N times, each on a fresh server, and says how far the runs lie apart: behind `make bench REPEAT=N`.
#   docker/repeat.sh N
# The first run samples the batch and the others take it again, so that what differs is the server and not the work. A run that fails
# is a row of the table; those before it are kept. Two in a row that fail alike before the first step end it: the others would too. The
# exit code is that of the first run that failed.
set -euo pipefail
cd "$(dirname "$0")/.."
source docker/stack.sh

runs=${1-}
[[ $runs =~ ^[1-9][0-9]{0,2}$ ]] || die 2 "REPEAT is '$runs'." "Give a number of runs from 1 to 999: make bench REPEAT=3"
check_settings
need_docker
own_results
results=$(realpath "$(setting RESULTS ./results)")
bench_args=$(setting BENCH_ARGS "")
# Each run's own settings; none of them repeats again.
export REPEAT=1 BENCH_ARGS=$bench_args

# The run's own file, written since the mark was touched.
written_since() { # MARK
  find "$results/runs" -maxdepth 1 -name '*.json' -newer "$1" -printf '%T@ %f\n' | sort -n | tail -n 1 | cut -d ' ' -f 2-
}

summarise() {
  docker run --rm --init --network none --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
    --user "$BENCH_UID:$BENCH_GID" --volume "$results:/results:z" gspo-bench-client bench repeats --results /results "$@"
}

# What a failed run's server said in its log; nothing where it left none.
said_since() { # MARK
  local log=$results/server.log
  [[ ! $log -nt $1 ]] || fault "$log" || true
}

# What stays the same from one start to the next: without addresses and numbers.
bare() { # TEXT
  sed -E 's/0x[0-9a-fA-F]+|[0-9]+//g' <<<"$1"
}

mark=$(mktemp)
trap 'rm -f "$mark"' EXIT
ended=0 files=() failed=() before=
for ((run = 1; run <= runs; run++)); do
  echo "Run $run of $runs, on a fresh server."
  touch "$mark"
  code=0
  docker/bench.sh || code=$?
  [[ $ended != 0 ]] || ended=$code
  file=$(written_since "$mark")
  said=
  if [[ -n $file ]]; then
    files+=("/results/runs/$file")
    if [[ $BENCH_ARGS == "$bench_args" && $(setting ROLLOUTS sampled) == sampled && " $bench_args" != *" --batch"[\ =]* ]]; then
      batch=$(sed -n 's|^ *"file": "\(batches/[0-9a-f]*\.json\)".*|\1|p' "$results/runs/$file" | head -n 1)
      [[ -z $batch ]] || BENCH_ARGS="$bench_args --batch /results/$batch"
    fi
  else
    failed+=(--failed "$run" "$code")
    said=$(said_since "$mark")
  fi
  # What the settings or the user ended would end the next one too.
  case $code in 2 | 4 | 130 | 143) break ;; esac
  if [[ -n $said && $(bare "$said") == "$(bare "$before")" ]] && ((run < runs)); then
    why="Runs $((run - 1)) and $run failed at start-up for the same reason: $said"
    printf '%s\n' "$why" "Not tried: $((runs - run)) more. Fix it, then run the same command." >&2
    failed+=(--not-tried "$((runs - run))" "$why")
    break
  fi
  before=$said
done
if [[ ${#files[@]} != 0 ]]; then
  summarise "${files[@]}" "${failed[@]}" || [[ $ended != 0 ]] || ended=1
  docker/plots.sh || [[ $ended != 0 ]] || ended=1
fi
exit "$ended"
