#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds Debian packages of this tree: devicepool_VERSION.orig.tar.gz and the tree devicepool-VERSION with its directory
# debian, from docs/packaging/debian, are made in DIRECTORY, and dpkg-buildpackage builds there. What is missing for the
# build: apt-get build-dep DIRECTORY/devicepool-VERSION
# usage: sh docs/packaging/deb.sh [-s] [-o DIRECTORY] [-- OPTION-OF-DPKG-BUILDPACKAGE...]
#   -s   makes the sources only
#   -o   where: default build/deb
#   options: default -us -uc -b; DEB_BUILD_OPTIONS=nocheck builds without tests
set -u
started=$PWD
cd "$(dirname "$0")/../.." || exit 1
. docs/packaging/tarball.sh
output=$PWD/build/deb
is_source_only=0
while getopts so: option; do
    case $option in
    s) is_source_only=1 ;;
    o) output=$(output_directory "$OPTARG") ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ $# != 0 ] || set -- -us -uc -b

for command in dpkg-buildpackage dh; do
    if ! command -v $command >/dev/null && [ $is_source_only = 0 ]; then
        echo "error: there is no $command; as root: apt-get install dpkg-dev debhelper" >&2
        exit 1
    fi
done
mkdir -p "$output" && tarball "$output" "$output/devicepool_$version.orig.tar.gz" || exit 1
cp -r docs/packaging/debian "$tree/debian" && chmod -R u+rwX,go+rX,go-w "$tree/debian" &&
    find "$tree/debian" -exec touch -h -d "$time" {} + || exit 1
[ $is_source_only = 0 ] || exit 0

cd "$tree" || exit 1
if ! dpkg-checkbuilddeps; then
    echo "error: build dependencies are missing; as root: apt-get build-dep $tree" >&2
    exit 1
fi
dpkg-buildpackage "$@" || exit 1
echo "packages are in $output"
