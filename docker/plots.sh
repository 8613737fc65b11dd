#!/usr/bin/env bash
# Draws from files, with no server: behind `make plots` and `make gallery`.
#   docker/plots.sh           the plots and the page of results/
#   docker/plots.sh gallery   the pictures of results/published/, and the README's table of them
set -euo pipefail
cd "$(dirname "$0")/.."
source docker/stack.sh

# Not by compose, which would leave its network behind, or take a running stack's away.
draw() { # UID:GID HOST_FOLDER IN_CONTAINER ARGUMENT...
  docker run --rm --init --network none --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
    --user "$1" --volume "$(realpath "$2"):$3:z" gspo-bench-client plots "${@:4}"
}

export PORT='' GPUS='' # the server's, which compose would refuse even here
need_docker
own_results
build plots
if [[ ${1-} == gallery ]]; then
  owner=$(id -u):$(id -g)
  [[ $BENCH_UID != 0 ]] || owner=0:0 # a rootless engine's root is the caller
  draw "$owner" . /repo gallery /repo
else
  draw "$BENCH_UID:$BENCH_GID" "$(setting RESULTS ./results)" /results --results /results
fi
