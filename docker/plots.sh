#!/usr/bin/env bash
# Draws the plots again from the files in results/, with no server: behind `make plots`.
set -euo pipefail
cd "$(dirname "$0")/.."
source docker/stack.sh

need_docker
own_results
build plots
# Not by compose, which would leave its network behind, or take a running stack's away.
docker run --rm --init --network none --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
  --user "$BENCH_UID:$BENCH_GID" --volume "$(realpath "$(setting RESULTS ./results)"):/results:z" gspo-bench-client plots --results /results
