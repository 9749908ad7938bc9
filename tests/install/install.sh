#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs into a folder of its own and builds a program against that by pkg-config alone: shared,
# then with what a static link takes. The program is the example of the mock driver.
# usage: install.sh MESON BUILD-FOLDER PREFIX SOURCE C-COMPILER
set -u
meson=$1
build=$2
prefix=$3
source=$4
compiler=$5
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

DESTDIR=$folder/root "$meson" install --no-rebuild -C "$build" >"$folder/log" 2>&1 || {
    cat "$folder/log"
    exit 1
}
configs=$(dirname "$(find "$folder/root" -name devicepool-mock.pc)")
libraries=$(dirname "$configs")
# The files name the prefix; here it lies below a folder.
PKG_CONFIG_PATH=$configs:${PKG_CONFIG_PATH-}
export PKG_CONFIG_PATH
options="--define-variable=prefix=$folder/root$prefix"

failed=0
# build_and_run WHAT PKG-CONFIG-OPTION EXTRA-LINK-OPTION
build_and_run() {
    # shellcheck disable=SC2046,SC2086
    $compiler -std=c11 -Wall -Wextra -Werror "$source" -o "$folder/program" $3 \
        $(pkg-config $options $2 --cflags --libs devicepool-mock) \
        $(pkg-config --cflags --libs cmocka) 2>"$folder/log" &&
        LD_LIBRARY_PATH=$libraries "$folder/program" >>"$folder/log" 2>&1 || {
        echo "$1:"
        cat "$folder/log"
        failed=1
        return
    }
    echo "$1: $(tail -n 1 "$folder/log")"
}

build_and_run "shared library" "" ""
rm -f "$libraries"/libdevicepool.so*
build_and_run "static library" "--static" ""
exit $failed
