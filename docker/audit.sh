#!/usr/bin/env bash
# Asks the OSV database (osv.dev) for known vulnerabilities of every locked package: behind `make audit`. Needs Python and a network that
# reaches it, no Docker. docker/requirements/audit.exceptions has what does not matter here, each with its reason.
# Ends with 1 where it found one, 3 where the database cannot be asked.
set -euo pipefail
cd "$(dirname "$0")/.."
source docker/stack.sh

osv=$(setting OSV_URL https://api.osv.dev/v1/query)

python3 - "$osv" <<'END' || die 3 "The database of vulnerabilities, $osv, cannot be asked from here: nothing was audited." "Run make audit where the network reaches it."
import sys, urllib.request
try:
    urllib.request.urlopen(sys.argv[1], data=b'{"package": {"name": "pip", "ecosystem": "PyPI"}}', timeout=20).read(1)
except OSError:
    sys.exit(1)
END

venv=.venv/audit
[[ -x $venv/bin/pip-audit ]] || { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check pip-audit; } ||
  die 2 "pip-audit needs Python 3.10 or newer with venv on this machine." "Install it (Debian, Ubuntu: apt-get install python3-venv)."

ignored=()
while read -r id reason; do
  [[ -n $reason ]] || die 2 "docker/requirements/audit.exceptions gives no reason for $id." "Write it behind the identifier."
  ignored+=(--ignore-vuln "$id")
done < <(sed 's/#.*//; /^[[:space:]]*$/d' docker/requirements/audit.exceptions)

found=0
for lock in docker/requirements/*.txt; do
  echo "Auditing $lock."
  "$venv/bin/pip-audit" --vulnerability-service osv --osv-url "$osv" --requirement "$lock" --disable-pip --require-hashes --strict --progress-spinner off \
    ${ignored[@]+"${ignored[@]}"} || found=1
done
exit "$found"
