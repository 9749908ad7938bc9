#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds the release and runs 'devicepool demo': real work on every GPU of
# this host or, without one, on two simulated devices.
# usage: sh docs/demo.sh [OPTIONS OF 'devicepool demo']
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/install-needs.sh
build_needs
install_needs || exit 1

mkdir -p build
if [ ! -f build/demo/build.ninja ]; then
    meson setup build/demo -Dtests=disabled -Ddefault_library=static >build/demo.log 2>&1 || {
        cat build/demo.log
        exit 1
    }
fi
if [ -t 1 ]; then
    ninja -C build/demo src/tools/command/devicepool || exit 1
else
    ninja -C build/demo src/tools/command/devicepool >build/demo.log 2>&1 || {
        grep -v '^\[' build/demo.log | tail -n 40
        exit 1
    }
fi
exec build/demo/src/tools/command/devicepool demo --data tests/vectors "$@"
