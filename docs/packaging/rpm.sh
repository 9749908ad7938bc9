#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds RPM packages of this tree by devicepool.spec, in DIRECTORY. What is missing for the build: dnf builddep
# docs/packaging/devicepool.spec
# usage: sh docs/packaging/rpm.sh [-o DIRECTORY] [-- OPTION-OF-RPMBUILD...]
#   -o   where: default build/rpm
#   options: default -ba; -bs makes the source package only, --with mpi the packages for Open MPI
set -u
started=$PWD
cd "$(dirname "$0")/../.." || exit 1
. docs/packaging/tarball.sh
output=$PWD/build/rpm
while getopts o: option; do
    case $option in
    o) output=$(output_directory "$OPTARG") ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ $# != 0 ] || set -- -ba
command -v rpmbuild >/dev/null || {
    echo "error: there is no rpmbuild; as root: dnf install rpm-build, or apt-get install rpm" >&2
    exit 1
}
mkdir -p "$output/SOURCES" && tarball "$output" "$output/SOURCES/devicepool-$version.tar.gz" || exit 1
rm -rf "$tree"
SOURCE_DATE_EPOCH=$(date -d "$time" +%s) rpmbuild --define "_topdir $output" "$@" docs/packaging/devicepool.spec || exit 1
echo "packages are in $output/RPMS and $output/SRPMS"
