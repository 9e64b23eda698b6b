#!/usr/bin/env bash
# Measures which statements the tests of the whole module run.
set -euo pipefail
source "$(dirname "$0")/common.sh"

mkdir -p build
go test -count=1 -coverpkg=./... -coverprofile build/cover.out ./...
go tool cover -html build/cover.out -o build/cover.html
go tool cover -func build/cover.out | tail -n 1
