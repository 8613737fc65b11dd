#!/usr/bin/env bash
# Draws the plots again from the files in results/, with no server: behind `make plots`.
set -euo pipefail
cd "$(dirname "$0")/.."
source docker/stack.sh

need_docker
own_results
compose build plots
compose run --rm --no-deps --no-TTY plots
