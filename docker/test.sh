#!/usr/bin/env bash
# Lint and tests: behind `make test`. What needs Python runs in an image with everything in it; the stack's tests run on this machine.
#   docker/test.sh              lint, then all tests
#   docker/test.sh lint         lint only
#   docker/test.sh fast         the quick tests, without Docker: no server, no browser, no picture
#   docker/test.sh image        what the CUDA server's image holds, without a GPU; builds it if anything changed
#   docker/test.sh ARGUMENT...  pytest in the image with these arguments
set -euo pipefail
cd "$(dirname "$0")/.."
source docker/stack.sh

image=gspo-bench-test

# The repository is mounted read-only: what the tests write goes to /tmp.
inside_as=()
inside() {
  docker run ${inside_as[@]+"${inside_as[@]}"} --rm --init --read-only --tmpfs /tmp:exec,mode=1777 --cap-drop ALL --security-opt no-new-privileges --network none \
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

# Lint and what needs no other container. The real servers' tests wait for most of their time: they run beside, and what they print comes after.
image_tests() {
  local servers code=0
  printed=$(mktemp)
  # A job in the background does not hear Ctrl-C.
  trap 'docker kill "gspo-bench-test-$$" >/dev/null 2>&1 || true; rm -f "$printed"' EXIT
  inside_as=(--name "gspo-bench-test-$$")
  inside pytest -p no:cacheprovider tests/server >"$printed" 2>&1 &
  servers=$!
  inside_as=()
  lint
  inside pytest -p no:cacheprovider -m "not stack and not image" --ignore=tests/server || code=$?
  wait "$servers" || code=$?
  cat "$printed"
  return "$code"
}

# pytest alone, in a folder of its own: what looks at containers from outside imports nothing of this repository.
host_pytest() {
  local venv=.venv/stack
  [[ -x $venv/bin/pytest ]] || { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check pytest; } ||
    die 2 "The tests of images and of the stack need Python 3.10 or newer with venv on this machine." "Install it (Debian, Ubuntu: apt-get install python3-venv), or run make test-fast."
  "$venv/bin/pytest" "$@"
}

# The first Python of this machine that can run the client.
client_python() {
  local python
  for python in python3.13 python3 python3.14 python3.12; do
    ! "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 12))' 2>/dev/null || { echo "$python" && return; }
  done
  return 1
}

# In an environment of their own, made anew when what is locked changes; both halves at once.
fast_tests() {
  local python install venv=.venv/fast half code=0 locks=(docker/requirements/client.txt docker/requirements/test.txt)
  if ! cat "${locks[@]}" | cmp --silent - "$venv/locked"; then
    python=$(client_python) || die 2 "The fast tests need Python 3.12 or newer with venv on this machine." "Install it, or run make test, which needs Docker."
    echo "Making $venv with $python, once."
    rm -rf "$venv"
    "$python" -m venv "$venv"
    if uv --version >/dev/null 2>&1; then install=(uv pip install --quiet --python "$venv/bin/python"); else install=("$venv/bin/pip" install --quiet --disable-pip-version-check); fi
    "${install[@]}" --no-deps --require-hashes -r "${locks[0]}" -r "${locks[1]}"
    cat "${locks[@]}" >"$venv/locked"
  fi
  export MPLBACKEND=Agg TINKER_TELEMETRY=0
  local started=() slower=(tests/bench/compare tests/bench/learn tests/bench/sweep tests/bench/scale tests/bench/tasks tests/plots tests/views)
  for half in "tests/bench ${slower[*]/#/--ignore=}" "${slower[*]}"; do
    # shellcheck disable=SC2086 # words, not one name
    "$venv/bin/pytest" -q -p no:cacheprovider -m "not server and not stack and not image and not browser and not slow" $half &
    started+=($!)
  done
  for half in "${started[@]}"; do wait "$half" || code=$?; done
  exit "$code"
}

[[ ${1-} != fast ]] || fast_tests
need_docker
if [[ ${1-} == image ]]; then
  STACK=cuda build server
  host_pytest -m image tests/image
  exit
fi
docker build --quiet --file docker/server.Dockerfile --target test --tag "$image" \
  --build-arg "BASE_IMAGE=$(setting BASE_IMAGE python:3.13-slim-trixie)" \
  --build-arg "TORCH_INDEX_URL=$(setting TORCH_INDEX_URL "")" . >/dev/null

case ${1-} in
  lint) lint ;;
  "")
    image_tests
    host_pytest -m stack tests/stack
    ;;
  *) inside pytest -p no:cacheprovider "$@" ;;
esac
