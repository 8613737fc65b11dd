#!/bin/sh
# Installs the locked torch into $VIRTUAL_ENV: from the registry by hash, or the same version from $TORCH_INDEX_URL, whose builds (such
# as the CPU index that PyTorch's install page names) are other files with other hashes.
set -eu
cd "$(dirname "$0")"
if [ -n "${TORCH_INDEX_URL:-}" ]; then
  version=$(sed -n 's/^torch==\([^ ]*\).*/\1/p' torch.txt)
  "${UV:-uv}" pip install --quiet --index-url "$TORCH_INDEX_URL" "torch==$version"
else
  "${UV:-uv}" pip install --quiet --no-deps --require-hashes -r torch.txt
fi
