# shellcheck shell=bash disable=SC2034 # the variables are for those who source it
# What the scripts beside this one share. Source it; it moves to the top folder.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

# The versions of the Go tools. go run builds them once, in Go's own cache, and
# keeps them out of go.mod.
GOFUMPT=mvdan.cc/gofumpt@v0.12.0
STATICCHECK=honnef.co/go/tools/cmd/staticcheck@v0.8.2

# The packages that run under the race detector. The others drive whole
# processes, where it would see nothing.
RACE=(. ./driver/... ./store/... ./holdfasttest/...)

# die TEXT... ends the script with a reason.
die() {
  printf '%s\n' "$@" >&2
  exit 1
}

# stage NAME COMMAND... runs a step, says how long it took, and ends the script
# with the name of the step that failed.
stage() {
  local name=$1 began=$SECONDS
  shift
  printf '== %s\n' "$name"
  "$@" || die "== $name failed after $((SECONDS - began)) s"
  printf '== %s: %d s\n' "$name" "$((SECONDS - began))"
}
