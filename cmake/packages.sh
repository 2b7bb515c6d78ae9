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

# apt-get as root, which waits up to 10 minutes for another that holds the lock. (For the lock of the lists
# apt-get itself does not wait.)
apt() {
  local try output
  for try in {1..60}; do
    if output="$(as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -o DPkg::Lock::Timeout=600 -q "$@" 2>&1)"; then
      return 0
    fi
    [[ "$output" == *"Could not get lock"* ]] || break
    sleep 10
  done
  apt_said="$(grep -m 1 '^E: ' <<<"$output" || tail -n 1 <<<"$output")"
  return 1
}

# install_packages PACKAGE...: installs what is missing, and ends the script with one line where that cannot be
# done. Where there is no apt-get, CMake will name what is not there. In brackets, (install_packages ...) || ..., a
# script may go on without.
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
  # Where that fails the lists may be old.
  local install=(install -y --no-install-recommends --no-remove "${missing[@]}")
  if ! apt "${install[@]}" && ! { apt update && apt "${install[@]}"; }; then
    say "Could not install ${missing[*]}: ${apt_said:-no way to be root}"
    exit 1
  fi
}
