#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tarball of `meson dist`: unpacked it builds, installs to its prefix, and a program builds against
# that by pkg-config alone. Warnings of a compiler that we do not know do not stop it. What is not committed is not in
# it. Exit 77 where there is no git checkout. With "tests" it passes the quick suites too, and with
# default_library=static the test of installations: configured again in the same directory for the same prefix, so
# that nothing is compiled twice. Compiled with little optimisation, without "tests" with none.
# usage: dist.sh MESON BUILD-DIRECTORY SOURCE-DIRECTORY C-COMPILER C++-COMPILER|none [tests]
set -u
meson=$1
build=$2
source=$3
compiler=$4
cpp_compiler=$5
tests=${6:-none}
git -C "$source" rev-parse --verify -q HEAD >/dev/null 2>&1 || {
    echo "skipped: $source is not a git checkout"
    exit 77
}
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT

# must WHAT COMMAND...
must() {
    what=$1
    shift
    "$@" >"$directory/log" 2>&1 && return
    echo "$what:"
    tail -n 60 "$directory/log"
    exit 1
}

must "meson dist" "$meson" dist -C "$build" --no-tests --allow-dirty --formats gztar
tarball=$(ls -t "$build"/meson-dist/devicepool-*.tar.gz | head -n 1)
must "tar" tar -x -z -f "$tarball" -C "$directory"
tree=$(echo "$directory"/devicepool-*)
echo "tarball: $(wc -c <"$tarball") bytes"

must "meson setup" env CC="$compiler" "$meson" setup "$directory/build" "$tree" -Dtests="$([ "$tests" = tests ] && echo enabled || echo disabled)" \
    -Doptimization="$([ "$tests" = tests ] && echo 1 || echo 0)" --prefix="$directory/prefix"
must "option werror is off" sh -c "'$meson' configure '$directory/build' | grep -E '^ *werror +false'"
if [ "$tests" = tests ]; then
    must "meson test" "$meson" test -C "$directory/build" --suite unit --suite header --no-suite slow
    echo "quick suites: $(sed -n 's/^Ok: *//p' "$directory/log") tests passed"
fi
must "meson install" "$meson" install -C "$directory/build"
PKG_CONFIG_PATH=$(dirname "$(find "$directory/prefix" -name devicepool.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
must "a program" $compiler -std=c11 "$tree/tests/install/stranger.c" -o "$directory/program" \
    $(pkg-config --cflags --libs devicepool)
must "running it" env LD_LIBRARY_PATH="$(dirname "$PKG_CONFIG_PATH")" "$directory/program"
cat "$directory/log"
must "running it in worker processes" env LD_LIBRARY_PATH="$(dirname "$PKG_CONFIG_PATH")" \
    "$directory/program" workers:sim:2
echo "worker processes: $(cat "$directory/log")"

[ "$tests" = tests ] || exit 0
mv "$directory/prefix" "$directory/shared-prefix" || exit 1
must "meson configure, static" "$meson" configure "$directory/build" -Ddefault_library=static -Dtests=disabled
must "ninja, static" ninja -C "$directory/build"
must "static installation" sh "$tree/tests/install/install.sh" "$meson" "$directory/build" \
    "$directory/prefix" "$tree" "$compiler" "$cpp_compiler" static fortified
cat "$directory/log"
