#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tarball of `meson dist`: it has the files that are committed, all of them and no other, and unpacked it is
# configured, which finds every source; warnings of a compiler that we do not know do not stop it. Exit 77 where there
# is no git checkout. With "tests" it also builds, with little optimisation, passes the quick suites, installs to its
# prefix, a program builds against that by pkg-config alone, and with default_library=static it passes the test of
# installations: configured again in the same directory for the same prefix, so that nothing is compiled twice.
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
git -C "$source" ls-tree -r --name-only --full-tree HEAD | LC_ALL=C sort >"$directory/committed"
(cd "$tree" && find . -type f -o -type l) | sed 's|^\./||' | LC_ALL=C sort >"$directory/packed"
must "the tarball's files are those that are committed" diff "$directory/committed" "$directory/packed"

must "meson setup" env CC="$compiler" "$meson" setup "$directory/build" "$tree" \
    -Dtests="$([ "$tests" = tests ] && echo enabled || echo auto)" -Doptimization=1 --prefix="$directory/prefix"
must "option werror is off" sh -c "'$meson' configure '$directory/build' | grep -E '^ *werror +false'"
[ "$tests" = tests ] || exit 0
must "meson test" "$meson" test -C "$directory/build" --suite unit --suite header --no-suite slow
echo "quick suites: $(sed -n 's/^Ok: *//p' "$directory/log") tests passed"
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

mv "$directory/prefix" "$directory/shared-prefix" || exit 1
must "meson configure, static" "$meson" configure "$directory/build" -Ddefault_library=static -Dtests=disabled
must "ninja, static" ninja -C "$directory/build"
must "static installation" sh "$tree/tests/install/install.sh" "$meson" "$directory/build" \
    "$directory/prefix" "$tree" "$compiler" "$cpp_compiler" static fortified
cat "$directory/log"
