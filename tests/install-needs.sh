# SPDX-License-Identifier: Apache-2.0
# Sourced by tests/run.sh and docs/demo.sh: need PACKAGE COMMAND-THAT-PROVES-IT collects what is
# missing, install_needs installs it with apt (as root or through sudo) or says what to install.

missing=""

need() {
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}

install_needs() {
    [ -n "$missing" ] || return 0
    echo "installing:$missing"
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "error: missing packages (Debian's names):$missing; install them and run this again" >&2
        return 1
    elif [ "$(id -u)" = 0 ]; then
        as_root=""
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        as_root="sudo"
    else
        echo "error: missing packages; as root: apt-get install$missing" >&2
        return 1
    fi
    $as_root apt-get update -qq || return 1
    # shellcheck disable=SC2086 # a list on purpose
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        $missing >/dev/null || return 1
}

build_needs() {
    need gcc command -v gcc
    need libc6-dev test -e /usr/include/stdio.h
    need meson command -v meson
    need ninja-build command -v ninja
    need pkg-config command -v pkg-config
    need python3 command -v python3
    need libssl-dev test -e /usr/include/openssl/evp.h
    need libcjson-dev test -e /usr/include/cjson/cJSON.h
    need liblzma-dev test -e /usr/include/lzma.h
}
