#!/usr/bin/env bash
# Runs every test once, anew. A test that lacks a tool fails here; run alone it
# may skip.
set -euo pipefail
source "$(dirname "$0")/common.sh"

scripts/install.sh

# One folder for whatever the tests leave behind.
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/holdfast.XXXXXX")
trap 'chmod -R u+w "$TMPDIR"; rm -rf "$TMPDIR"' EXIT
export TMPDIR
export HOLDFAST_REQUIRE_ALL=1
unset HOLDFAST_STORE HOLDFAST_NAME HOLDFAST_TOKEN HOLDFAST_HELD

# The packages of ./... that are not under the race detector.
plain() { comm -23 <(go list ./... | sort) <(go list "${RACE[@]}" | sort); }

test_plain() {
  local packages
  mapfile -t packages < <(plain)
  go test -count=1 -timeout 10m "${packages[@]}"
}

stage "test with the race detector" env CGO_ENABLED=1 go test -race -count=1 -timeout 10m "${RACE[@]}"
stage "test the rest" test_plain
