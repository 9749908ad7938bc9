#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A Meson project that has this one as a subproject and asks for its packages by name, with a fallback:
# programs against the library, its archive and the mock driver are built and run.
# usage: subproject.sh MESON SOURCE-DIRECTORY C-COMPILER
set -u
meson=$1
source=$2
compiler=$3
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

mkdir -p "$directory/tree/subprojects/devicepool" || exit 1
for part in "$source"/*; do
    [ "$part" = "$source/build" ] || cp -R "$part" "$directory/tree/subprojects/devicepool" || exit 1
done
cp "$source/tests/install/stranger.c" "$source/docs/examples/service_test.c" "$directory/tree" || exit 1
cat >"$directory/tree/meson.build" <<'END'
project('stranger', 'c', default_options: ['c_std=c11'])
foreach package : ['devicepool', 'devicepool-static']
  pool = dependency(package, fallback: 'devicepool', default_options: ['tests=disabled'])
  test(package, executable('with-' + package, 'stranger.c', dependencies: pool))
endforeach
mock = dependency('devicepool-mock', fallback: 'devicepool')
test('mock', executable('with-mock', 'service_test.c', dependencies: [mock, dependency('cmocka')]))
END
must "meson setup" env CC="$compiler" "$meson" setup -Dbuildtype=debug --force-fallback-for=devicepool,devicepool-static,devicepool-mock \
    "$directory/build" "$directory/tree"
must "ninja" ninja -C "$directory/build" with-devicepool with-devicepool-static with-mock
must "the programs" "$meson" test -C "$directory/build" --no-rebuild
echo "as a subproject: $(sed -n 's|^Ok: *\([0-9]*\).*|\1|p' "$directory/log") programs work"
for pair in with-devicepool:1 with-devicepool-static:0; do
    count=$(readelf -dW "$directory/build/${pair%:*}" | grep -c 'NEEDED.*libdevicepool\.so')
    [ "$count" = "${pair#*:}" ] || {
        echo "${pair%:*} links the other library"
        exit 1
    }
done
