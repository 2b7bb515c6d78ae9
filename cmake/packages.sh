# SPDX-License-Identifier: MIT
# Sourced by examples/run.sh and tests/run.sh: installs missing packages on Debian and its kin.
# shellcheck shell=bash

say() { printf '%s\n' "$*" >&2; }

# The ones among the given packages that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    if [[ "$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null)" != *"ok installed" ]]; then
      printf '%s ' "$package"
    fi
  done
}

# Runs apt-get as root, if there is a way.
as_root() {
  if [[ $(id -u) -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    return 1
  fi
}

apt_install() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
    --no-remove "$@" >&2
}

# install_packages PACKAGE...: installs what is missing. Where that cannot be done it says what to
# do and carries on: the thing may be there without its package, and CMake will name what is not.
install_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "No apt-get here: if something is not found below, install what these Debian packages hold: $*"
    return 0
  fi
  local missing
  read -r -a missing <<<"$(missing_packages "$@")"
  if [[ ${#missing[@]} -eq 0 ]]; then
    return 0
  fi
  say "Installing ${missing[*]}"
  if ! apt_install "${missing[@]}" 2>/dev/null; then
    as_root apt-get update -q >&2 || true
    if ! apt_install "${missing[@]}"; then
      say "Could not install: ${missing[*]}"
      say "As root: apt-get install ${missing[*]}"
    fi
  fi
}
