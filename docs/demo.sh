#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds the release, shows the devices and runs real kernels on them; on a
# host without a GPU on two simulated devices.
# usage: sh docs/demo.sh [DEVICES]
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/install-needs.sh
build_needs
install_needs || exit 1

mkdir -p build
if [ ! -f build/demo/build.ninja ]; then
    meson setup build/demo -Dtests=disabled -Dexamples=true >build/demo.log 2>&1 || {
        cat build/demo.log
        exit 1
    }
fi
echo "building"
ninja -C build/demo >build/demo.log 2>&1 || {
    grep -v '^\[' build/demo.log | tail -n 40
    exit 1
}

tool=build/demo/src/cli/devicepool
devices=${1:-}
$tool version
echo
if [ -z "$devices" ]; then
    if $tool devices >/dev/null 2>&1; then
        devices=all
    else
        devices=sim:2
        echo "There is no GPU here, so two simulated devices execute the same kernels."
        echo
    fi
fi
$tool devices --devices "$devices" || exit 1
echo
if $tool version | grep -q '^nvrtc  *none'; then
    echo "The kernels of the demo are compiled by NVRTC, which is not here (see above what to install),"
    echo "so only the devices are shown."
    exit 0
fi
for example in walkthrough vector_add threads reduction; do
    build/demo/docs/examples/example_$example "$devices"
    code=$?
    if [ $code = 77 ]; then
        echo "$example: skipped, see above"
    elif [ $code != 0 ]; then
        echo "$example failed"
        exit 1
    fi
done
