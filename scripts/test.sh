#!/usr/bin/env bash
# Runs every test once, anew. A test that skips because it lacks something fails
# the run.
set -euo pipefail
source "$(dirname "$0")/common.sh"

scripts/install.sh

# One folder for whatever the tests leave behind.
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/holdfast.XXXXXX")
trap 'chmod -R u+w "$TMPDIR"; rm -rf "$TMPDIR"' EXIT
chmod 755 "$TMPDIR" # for tests that run as another user
export TMPDIR
unset HOLDFAST_STORE HOLDFAST_NAME HOLDFAST_TOKEN HOLDFAST_HELD

# Good reasons to skip: what the store or this system does not have at all, and a
# right that this user cannot have.
may_skip='^(not for this store|this system has no|needs /proc|only root )'

gotest() { go run ./scripts/gotest -may-skip "$may_skip" -- -count=1 -timeout 10m "$@"; }

# The packages of ./... that are not under the race detector.
plain() { comm -23 <(go list ./... | sort) <(go list "${RACE[@]}" | sort); }

test_race() { CGO_ENABLED=1 gotest -race "${RACE[@]}"; }

test_rest() {
  local packages
  mapfile -t packages < <(plain)
  gotest "${packages[@]}"
}

stage "test with the race detector" test_race
stage "test the rest" test_rest
