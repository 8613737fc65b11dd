#!/usr/bin/env bash
# Writes the locked requirements again (make lock). The CPU server's, the client's, the tests' and torch go together into one
# environment, so each is locked against those before it. UPGRADE=1 takes newer versions than the files have.
set -euo pipefail
cd "$(dirname "$0")"
UV=${UV:-uv}
export UV_CUSTOM_COMPILE_COMMAND='make lock'

lock() { # NAME [flag...]
  local name=$1
  shift
  "$UV" pip compile --quiet --python-version 3.13 --generate-hashes ${UPGRADE:+--upgrade} "$@" "$name.in" -o "$name.txt"
}

lock server-cpu --universal --overrides server-cpu.overrides
lock client --universal -c server-cpu.txt
lock test --universal -c server-cpu.txt -c client.txt
lock torch --python-platform x86_64-manylinux_2_28 -c server-cpu.txt -c client.txt -c test.txt
lock server-cuda --python-platform x86_64-manylinux_2_28 --overrides server-cuda.overrides
