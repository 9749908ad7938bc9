#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The library on distributions as their users have them: for each, a fresh root is made with debootstrap, and in it
# the demo runs, everything is built with -Dwerror=true by gcc and by clang, and the suites unit and sim run. As root,
# with debootstrap, from a git checkout. About an hour of one processor and 4 GB per distribution; a root that exists
# is used again, with its packages. Not part of tests/run.sh.
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

if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null || ! command -v unshare >/dev/null; then
    echo "error: root, debootstrap and unshare (util-linux) are needed" >&2
    exit 2
fi
[ -n "$mirror" ] || mirror=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 'Created-By: Packages' |
    sed -n 's/^Debian Debian //p' | head -n 1)
if [ -z "$mirror" ]; then
    echo "error: this host's apt has no Debian mirror; name one with -m" >&2
    exit 2
fi
mkdir -p "$roots" && roots=$(cd "$roots" && pwd) || exit 1

# What runs in the root, in the copy of this tree. Its mounts and processes end with it.
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
step packages install_all
for compiler in $compilers; do
    step "build-$compiler" build "$compiler"
    step "test-$compiler" meson test -C "build/$compiler" --no-rebuild --suite unit --suite sim --no-suite long \
        --timeout-multiplier 5 --print-errorlogs
done
exit $failed
END

failed=0
for distribution; do
    root=$roots/$distribution
    if [ ! -e "$root/etc/apt/sources.list" ]; then
        echo "$distribution: making a root from $mirror"
        debootstrap --variant=minbase "$distribution" "$root" "$mirror" >"$roots/$distribution.log" 2>&1 || {
            echo "$distribution: debootstrap FAILED:"
            tail -n 20 "$roots/$distribution.log"
            failed=1
            continue
        }
    fi
    # Without the old files: tar keeps times, so that a changed file could be older than what was built from it.
    rm -rf "$root/src"
    mkdir "$root/src" || exit 1
    git ls-files -z | tar -c --null --files-from=- | tar -x -C "$root/src" || exit 1
    cp "$roots/steps.sh" "$root/steps.sh"
    distribution=$distribution compilers=$compilers unshare --mount --pid --fork sh -c '
        mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --rbind /sys "$0/sys" &&
            exec chroot "$0" sh /steps.sh' "$root" || failed=1
done
exit $failed
