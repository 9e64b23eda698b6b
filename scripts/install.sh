#!/usr/bin/env bash
# Installs the commands that tests and checks need beside Go, where apt-get can;
# elsewhere says what to install and fails.
set -euo pipefail
source "$(dirname "$0")/common.sh"

# command:Debian package
needs=(make:make git:git gcc:gcc shellcheck:shellcheck)
if [ "$(uname -s)" = Linux ]; then
  needs+=(unshare:util-linux)
fi

commands=() packages=()
for need in "${needs[@]}"; do
  command -v "${need%%:*}" >/dev/null && continue
  commands+=("${need%%:*}")
  packages+=("${need##*:}")
done
# A C compiler without the C library's headers cannot build for -race either.
if [ "$(uname -s)" = Linux ] && ! echo '#include <stdlib.h>' | gcc -E -x c - >/dev/null 2>&1; then
  packages+=(libc6-dev)
  commands+=("the C library's headers")
fi

command -v go >/dev/null || die "go is missing: install Go $(awk '$1 == "go" { print $2 }' go.mod) or newer, then try again"
[ ${#packages[@]} -gt 0 ] || exit 0

give_up() {
  local missing
  missing=$(printf ', %s' "${commands[@]}")
  die "missing: ${missing:2}" "$1 Install these packages (Debian names) and try again: ${packages[*]}"
}

root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || give_up "This user is not root and there is no sudo."
  root=(sudo)
  [ -t 0 ] || root+=(-n)
fi
command -v apt-get >/dev/null || give_up "There is no apt-get."

echo "installing ${packages[*]}"
export DEBIAN_FRONTEND=noninteractive
"${root[@]}" apt-get -q update || give_up "apt-get update failed."
"${root[@]}" apt-get -q -y --no-install-recommends install "${packages[@]}" || give_up "apt-get install failed."
