#!/usr/bin/env bash
# Checks the source without running it.
set -euo pipefail
source "$(dirname "$0")/common.sh"

scripts/install.sh

formatted() {
  local files
  files=$(go run "$GOFUMPT" -l .)
  [ -z "$files" ] || die "not formatted; run: go run $GOFUMPT -w ." "$files"
}

# other_systems type-checks the module, tests included, for systems that this
# machine cannot run.
other_systems() {
  go run ./scripts/typecheck linux/arm64 linux/386 darwin/arm64 freebsd/amd64 windows/amd64
}

shell_scripts() {
  shellcheck -x -P SCRIPTDIR .ci/run scripts/*.sh
}

stage gofumpt formatted
stage vet go vet ./...
stage staticcheck go run "$STATICCHECK" ./...
stage shellcheck shell_scripts
stage "other systems" other_systems
