# SPDX-License-Identifier: Apache-2.0
# Sourced by tests/run.sh, docs/demo.sh and docs/install.sh: need PACKAGE COMMAND-THAT-PROVES-IT collects what is
# missing, install_needs installs it with apt (as root or through sudo) or says what to install. Names are Debian's, which
# are Ubuntu's too; where there is dnf, those of Fedora are said. Only Debian is tested.
# A proof may use only what an earlier install_needs has installed.

missing=""

need() {
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}

# Fedora's name of a package of Debian: from its package lists, untested.
fedora_name() {
    case $1 in
    libc6-dev) echo glibc-devel ;;
    pkg-config) echo pkgconf-pkg-config ;;
    libssl-dev) echo openssl-devel ;;
    libcjson-dev) echo cjson-devel ;;
    liblzma-dev) echo xz-devel ;;
    libzstd-dev) echo libzstd-devel ;;
    g++) echo gcc-c++ ;;
    libcmocka-dev) echo libcmocka-devel ;;
    libgmp-dev) echo gmp-devel ;;
    libyaml-dev) echo libyaml-devel ;;
    libmicrohttpd-dev) echo libmicrohttpd-devel ;;
    libopenmpi-dev) echo openmpi-devel ;;
    openmpi-bin) echo openmpi ;;
    libmpich-dev) echo mpich-devel ;;
    libclang-rt-*-dev) echo compiler-rt ;;
    golang-go) echo golang ;;
    libnode-dev) echo nodejs-devel ;;
    gcc | meson | ninja-build | python3 | clang | lld | cmark-gfm | curl | git | make | mpich | cargo | nodejs) echo "$1" ;;
    *) echo "?" ;;
    esac
}

install_needs() {
    [ -n "$missing" ] || return 0
    if ! command -v apt-get >/dev/null 2>&1 && command -v dnf >/dev/null 2>&1; then
        names=""
        for package in $missing; do
            names="$names $(fedora_name "$package")"
        done
        echo "error: missing packages; as root: dnf install$names (names of Fedora, where this is untested)" >&2
        return 1
    fi
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
    # One source that is out of date or out of reach may well be none of those that are needed.
    $as_root apt-get update -qq ||
        echo "warning: apt-get update failed (above); trying with the package lists that there are" >&2
    # shellcheck disable=SC2086 # a list on purpose
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        $missing >/dev/null || {
        echo "error: apt-get install$missing failed" >&2
        return 1
    }
    missing=""
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
    need libzstd-dev test -e /usr/include/zstd.h
}

# language_needs LANGUAGE: what programs that use a binding are built with; false: there is no such binding
language_needs() {
    case $1 in
    c | python) ;;
    cpp) need g++ command -v g++ ;;
    go) need golang-go command -v go ;;
    rust) need cargo command -v cargo ;;
    node)
        need nodejs command -v node
        need libnode-dev sh -c 'test -e /usr/include/node/node_api.h ||
            test -e "$(dirname "$(realpath "$(command -v node)")")/../include/node/node_api.h"'
        ;;
    *) return 1 ;;
    esac
}

test_needs() {
    need g++ command -v g++
    need clang command -v clang
    need libcmocka-dev test -e /usr/include/cmocka.h
    need libgmp-dev test -e /usr/include/gmp.h -o -e "/usr/include/$(uname -m)-linux-gnu/gmp.h"
    need libyaml-dev test -e /usr/include/yaml.h
    need libmicrohttpd-dev test -e /usr/include/microhttpd.h
    need curl command -v curl
    need make command -v make
    need git command -v git
    need libopenmpi-dev sh -c 'pkg-config --exists ompi-c || test -e /usr/lib/*/openmpi/include/mpi.h'
    need openmpi-bin command -v mpirun.openmpi
    need libmpich-dev sh -c 'pkg-config --exists mpich || test -e /usr/lib/*/mpich/include/mpi.h'
    need mpich command -v mpirun.mpich
}

# The sanitizers' libraries, in a package that has clang's version in its name: when clang is installed.
clang_needs() {
    clang_version=$(clang --version | sed -n 's/.*version \([0-9]*\)\..*/\1/p')
    need "libclang-rt-$clang_version-dev" \
        sh -c 'echo "int main(void) { return 0; }" | clang -fsanitize=address,undefined -x c - -o /dev/null'
}
