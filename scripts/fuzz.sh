#!/usr/bin/env bash
# Runs each fuzz target of the module for FUZZTIME, one after the other.
set -euo pipefail
source "$(dirname "$0")/common.sh"

targets=0
for package in $(go list ./...); do
  for name in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
    stage "$package $name" go test -run '^$' -fuzz "^$name\$" -fuzztime "${FUZZTIME:-10s}" "$package"
    targets=$((targets + 1))
  done
done
[ "$targets" -gt 0 ] || die "no fuzz targets found"
