#!/usr/bin/env bash
# Lint and tests: behind `make test`. What needs Python runs in an image with everything in it; the stack's tests run on this machine.
#   docker/test.sh              lint, then all tests
#   docker/test.sh lint         lint only
#   docker/test.sh ARGUMENT...  pytest in the image with these arguments
set -euo pipefail
cd "$(dirname "$0")/.."
source docker/stack.sh

image=gspo-bench-test

# The repository is mounted read-only: what the tests write goes to /tmp.
inside() {
  docker run --rm --init --read-only --tmpfs /tmp:exec,mode=1777 --cap-drop ALL --security-opt no-new-privileges --network none \
    --volume "$PWD:/repo:ro" "$image" "$@"
}

lint() {
  inside ruff check --no-cache .
  inside ruff format --no-cache --check --quiet .
  inside mypy --cache-dir /tmp/mypy
  if command -v shellcheck >/dev/null; then
    shellcheck docker/*.sh docker/requirements/*.sh .ci/*
  fi
}

# pytest alone, in a folder of its own: the stack's tests import nothing of this repository.
stack_tests() {
  local venv=.venv/stack
  [[ -x $venv/bin/pytest ]] || { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check pytest; } ||
    die 2 "The stack's tests need Python 3.10 or newer with venv on this machine." "Install it (Debian, Ubuntu: apt-get install python3-venv), or run make test-fast."
  "$venv/bin/pytest" -m stack tests/stack
}

need_docker
docker build --quiet --file docker/server.Dockerfile --target test --tag "$image" \
  --build-arg "BASE_IMAGE=$(setting BASE_IMAGE python:3.13-slim-trixie)" \
  --build-arg "TORCH_INDEX_URL=$(setting TORCH_INDEX_URL "")" . >/dev/null

case ${1-} in
  lint) lint ;;
  "")
    lint
    inside pytest -p no:cacheprovider -m "not stack"
    stack_tests
    ;;
  *) inside pytest -p no:cacheprovider "$@" ;;
esac
