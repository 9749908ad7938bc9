#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what the build is missing and the toolchains of the languages that are named, builds the release, and installs
# library, command, headers, bindings and pages in the home directory or in another place.
# usage: sh docs/install.sh [-p PREFIX] [cpp|go|node|python|rust]...     default: $HOME/.local
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/install-needs.sh
prefix=${HOME:+$HOME/.local}
while getopts p: option; do
    case $option in
    p) prefix=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
case $prefix in
/*) ;;
*)
    echo "error: '$prefix' has to begin with /: it is written into package files" >&2
    exit 2
    ;;
esac
build_needs
for language; do
    language_needs "$language" || {
        echo "error: '$language' is none of cpp, go, node, python, rust" >&2
        exit 2
    }
done
install_needs || exit 1

mkdir -p build
# step COMMAND...: without a terminal its output is shown only if it fails
step() {
    if [ -t 1 ]; then
        "$@" || exit 1
    else
        "$@" >build/install.log 2>&1 || {
            grep -v '^\[' build/install.log | tail -n 40
            exit 1
        }
    fi
}
if [ -f build/install/build.ninja ]; then
    step meson configure build/install --prefix="$prefix"
else
    step meson setup build/install --prefix="$prefix" -Dlibdir=lib -Dtests=disabled
fi
step ninja -C build/install
step meson install -C build/install --no-rebuild --quiet
echo "installed in $prefix. For programs of this shell:"
echo "export PATH='$prefix/bin':\$PATH PKG_CONFIG_PATH='$prefix/lib/pkgconfig' LD_LIBRARY_PATH='$prefix/lib'"
