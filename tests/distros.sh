#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The library on distributions as their users have them: for each, a fresh root is made with debootstrap, and in it the demo
# runs, the commands of docs/bindings.md take each language from nothing to a checked MSM, everything is built with
# -Dwerror=true by gcc and by clang, and the suites unit and sim run. As root, with debootstrap, from a git checkout. About an
# hour of one processor and 5 GB per distribution; a root that exists is used again, with its packages. Not part of
# tests/run.sh.
# usage: sh tests/distros.sh [-m MIRROR] [-d DIRECTORY-OF-ROOTS] [-c COMPILERS] [DISTRIBUTION...]
#   default: this host's own Debian mirror, build/roots, "gcc clang", bookworm trixie sid
set -u
cd "$(dirname "$0")/.." || exit 1
mirror=""
roots=$PWD/build/roots
compilers="gcc clang"
while getopts m:d:c: option; do
    case $option in
    m) mirror=$OPTARG ;;
    d) roots=$OPTARG ;;
    c) compilers=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ $# != 0 ] || set -- bookworm trixie sid

. tests/roots.sh
roots_open

# What runs in the root, in the copy of this tree.
cat >"$roots/steps.sh" <<'END'
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8
cd /src || exit 1
mkdir -p build
failed=0

# step NAME COMMAND...: its output goes to a log
step() {
    name=$1
    shift
    begin=$(date +%s)
    if "$@" >"build/step-$name.log" 2>&1; then
        verdict=passed
    else
        verdict="FAILED, src/build/step-$name.log in the root"
        failed=1
    fi
    echo "$distribution: $name: $verdict ($(($(date +%s) - begin)) s)"
}

install_all() {
    . tests/install-needs.sh
    build_needs
    test_needs
    install_needs || return 1
    clang_needs
    install_needs
}

# build COMPILER: continues after errors, so that one run shows all
build() {
    [ -f "build/$1/build.ninja" ] || CC=$1 meson setup "build/$1" -Dwerror=true -Dtests=enabled || return 1
    ninja -k 0 -C "build/$1"
}

step demo sh docs/demo.sh
step languages python3 tests/bindings/first_run.py /src /src/build meson /usr whole
step packages install_all
for compiler in $compilers; do
    step "build-$compiler" build "$compiler"
    step "test-$compiler" meson test -C "build/$compiler" --no-rebuild --suite unit --suite sim --no-suite long \
        --timeout-multiplier 5 --print-errorlogs
done
exit $failed
END

failed=0
export distribution compilers
for distribution; do
    root_make "$distribution" && root_copy "$distribution" src || {
        failed=1
        continue
    }
    root_run "$distribution" "$roots/steps.sh" || failed=1
done
exit $failed
