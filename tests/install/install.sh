#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs into a folder of its own, builds programs against that by pkg-config alone, a stranger's in
# C and C++ and the example of the mock driver, shared and then with what a static link takes; uses
# the installed command; uninstalls and looks for what stayed.
# usage: install.sh MESON BUILD-FOLDER PREFIX SOURCE-FOLDER C-COMPILER C++-COMPILER|none
set -u
meson=$1
build=$2
prefix=$3
source=$4
c_compiler=$5
cpp_compiler=$6
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
export DEVICEPOOL_CACHE=off
failed=0

# must WHAT COMMAND...
must() {
    what=$1
    shift
    "$@" >"$folder/log" 2>&1 && return
    echo "$what:"
    cat "$folder/log"
    exit 1
}

# What this folder has installed elsewhere stays known to its own `ninja uninstall`.
installed=$build/meson-logs/install-log.txt
[ ! -f "$installed" ] || cp "$installed" "$folder/installed"
DESTDIR=$folder/root must "meson install" "$meson" install --no-rebuild -C "$build"
configs=$(dirname "$(find "$folder/root" -name devicepool.pc)")
libraries=$(dirname "$configs")
PKG_CONFIG_PATH=$configs:${PKG_CONFIG_PATH-}
export PKG_CONFIG_PATH
# The files name the prefix; here it lies below a folder.
options="--define-variable=prefix=$folder/root$prefix"

# build_and_run WHAT COMPILER-AND-OPTIONS SOURCE PACKAGES PKG-CONFIG-OPTION
build_and_run() {
    # shellcheck disable=SC2046,SC2086
    $2 -Wall -Wextra -Werror -pedantic "$3" -o "$folder/program" \
        $(pkg-config $options $5 --cflags --libs ${4%%+*}) \
        $(test "${4#*+}" = "$4" || pkg-config --cflags --libs "${4#*+}") 2>"$folder/log" &&
        LD_LIBRARY_PATH=$libraries "$folder/program" >>"$folder/log" 2>&1 || {
        echo "$1:"
        cat "$folder/log"
        failed=1
        return
    }
    echo "$1: $(tail -n 1 "$folder/log")"
}

build_all() {
    build_and_run "$1, C" "$c_compiler -std=c11" "$source/tests/install/stranger.c" devicepool "$2"
    [ "$cpp_compiler" = none ] || build_and_run "$1, C++" "$cpp_compiler -x c++ -std=c++17" \
        "$source/tests/install/stranger.c" devicepool "$2"
    build_and_run "$1, mock driver" "$c_compiler -std=c11" "$source/docs/examples/service_test.c" \
        devicepool-mock+cmocka "$2"
}

build_all "shared library" ""
mkdir "$folder/aside"
mv "$libraries"/libdevicepool.so* "$folder/aside"
build_all "static library" "--static"
mv "$folder"/aside/* "$libraries"

tool=$folder/root$prefix/bin/devicepool
if [ -x "$tool" ]; then
    must "the installed command" env LD_LIBRARY_PATH="$libraries" "$tool" devices -d sim:2
    echo "installed command: $(head -n 1 "$folder/log")"
    for file in devicepool/kzg/trusted_setup.txt devicepool/kzg/valid_blob_2.blob \
        devicepool/kzg/valid_blob_3.blob devicepool/iden3/powersOfTau28_hez_final_09.ptau \
        bash-completion/completions/devicepool man/man1/devicepool.1; do
        must "installed file $file" test -s "$folder/root$prefix/share/$file"
    done
fi

must "ninja uninstall" ninja -C "$build" uninstall
[ ! -f "$folder/installed" ] || cp "$folder/installed" "$installed"
left=$(find "$folder" -path "$folder/root/*" ! -type d)
if [ -n "$left" ]; then
    echo "after ninja uninstall there is still: $left"
    failed=1
else
    echo "uninstalled: nothing is left"
fi
exit $failed
