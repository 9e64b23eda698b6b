#!/usr/bin/env bash
# Builds the command for every system that it runs on, without cgo.
set -euo pipefail
source "$(dirname "$0")/common.sh"

build() {
  local os=$1 arch=$2 out=build/holdfast-$1-$2
  [ "$os" != windows ] || out+=.exe
  CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -trimpath -ldflags '-s -w' -o "$out" ./cmd/holdfast
}

rm -rf build
mkdir build
for system in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 freebsd/amd64 windows/amd64; do
  stage "build for $system" build "${system%/*}" "${system#*/}"
done
cd build
sha256sum holdfast-* | tee SHA256SUMS
