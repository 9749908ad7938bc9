#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Cross-builds for 64-bit Arm without a warning and runs the demo under qemu. Exit 77 where compiler, libraries or
# qemu are missing; aarch64.ini says how to install them.
# usage: aarch64.sh MESON SOURCE-DIRECTORY
set -u
meson=$1
source=$2
for program in aarch64-linux-gnu-gcc qemu-aarch64 pkg-config; do
    command -v "$program" >/dev/null || {
        echo "skipped: there is no $program"
        exit 77
    }
done
for package in libcrypto libcjson liblzma libzstd; do
    PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig pkg-config --exists "$package" || {
        echo "skipped: there is no $package for aarch64"
        exit 77
    }
done
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
export DEVICEPOOL_CACHE=off

# must WHAT COMMAND...
must() {
    what=$1
    shift
    "$@" >"$directory/log" 2>&1 && return
    echo "$what:"
    tail -n 60 "$directory/log"
    exit 1
}

must "meson setup" "$meson" setup "$directory/build" "$source" --cross-file "$source/tests/cross/aarch64.ini" \
    -Dtests=disabled -Dmpi=disabled -Dwerror=true
must "ninja" ninja -C "$directory/build"
command=$directory/build/src/tools/command/devicepool
case $(readelf -h "$command") in
*AArch64*) ;;
*)
    echo "the command is not for aarch64"
    exit 1
    ;;
esac
must "demo" qemu-aarch64 "$command" demo -d sim:2 --data "$source/tests/vectors"
cat "$directory/log"
grep -q '^5 of 5 correct' "$directory/log"
