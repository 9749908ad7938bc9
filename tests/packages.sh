#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The packages of docs/packaging on distributions as their users have them: for each, in a fresh root that debootstrap
# makes, the Debian packages are built twice, in different directories, time zones and locales, and compared; so are
# two trees of `meson install`; RPM packages are built; lintian finds no error in Debian's; these are installed, debian/tests
# are run with them, and nothing is left after a purge. As root, with debootstrap, from a git checkout. Half an hour of one processor and 4 GB per
# distribution. Not part of tests/run.sh.
# usage: sh tests/packages.sh [-m MIRROR] [-d DIRECTORY-OF-ROOTS] [-q] [DISTRIBUTION...]
#   -q        quick: one build, without the suite that it runs, and with ccache where the root has it
#   default: this host's own Debian mirror, build/roots, bookworm trixie
set -u
cd "$(dirname "$0")/.." || exit 1
mirror=""
roots=$PWD/build/roots
is_quick=0
while getopts m:d:q option; do
    case $option in
    m) mirror=$OPTARG ;;
    d) roots=$OPTARG ;;
    q) is_quick=1 ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ $# != 0 ] || set -- bookworm trixie

. tests/roots.sh
roots_open

# What runs in the root, in the copy of this tree.
cat >"$roots/packages.sh" <<'END'
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
[ "$is_quick" = 0 ] || export PATH="/usr/lib/ccache:$PATH" CCACHE_DIR="$HOME/.cache/ccache" DEB_BUILD_OPTIONS=nocheck
work=/packages
cd $work/src || exit 1
failed=0
name=$(sed -n "s/^ *version: '\(.*\)',/devicepool-\1/p" meson.build)

# step NAME COMMAND...: its output goes to a log
step() {
    what=$1
    shift
    begin=$(date +%s)
    if "$@" >"$work/$what.log" 2>&1; then
        verdict=passed
    else
        verdict="FAILED, packages/$what.log in the root"
        failed=1
    fi
    echo "$distribution: $what: $verdict ($(($(date +%s) - begin)) s)"
    [ "$verdict" = passed ]
}

# What the build needs, by the packages' own list, and lintian, but nothing that Recommends name.
install_needs() {
    apt-get update -q &&
        apt-get install -q -y --no-install-recommends dpkg-dev debhelper lintian &&
        sh docs/packaging/deb.sh -s -o $work/needs &&
        apt-get build-dep -q -y --no-install-recommends $work/needs/$name
}

build_one() {
    sh docs/packaging/deb.sh -o $work/one -- -us -uc
}
build_two() {
    (umask 027 && cp -r $work/src $work/again && cd $work/again &&
        DEB_BUILD_OPTIONS="nocheck parallel=1" TZ=Pacific/Auckland LC_ALL=C LANG=C \
            sh docs/packaging/deb.sh -o $work/longer/name/two -- -us -uc)
}

# Built only, with Debian's packages in the place of Fedora's: dpkg knows no BuildRequires.
build_rpm() {
    apt-get install -q -y --no-install-recommends rpm &&
        sh docs/packaging/rpm.sh -o $work/rpm -- -ba --nodeps &&
        rpm -qp --provides $work/rpm/RPMS/*/*.rpm &&
        test "$(ls $work/rpm/RPMS/*/devicepool-*.rpm $work/rpm/SRPMS/devicepool-*.rpm | wc -l)" -ge 9
}

# digests DIRECTORY: of what is published
digests() {
    (cd "$1" && sha256sum ./*.deb ./*.dsc ./*.tar.*)
}
compare_packages() {
    digests $work/one >$work/one.sums
    digests $work/longer/name/two >$work/two.sums
    diff $work/one.sums $work/two.sums && test "$(wc -l <$work/one.sums)" -gt 10
}

# tree DIRECTORY TIME-ZONE: an installation of the sources there
tree() {
    cp -r $work/src "$1" &&
        TZ=$2 meson setup "$1/build" "$1" --prefix=/usr -Dtests=disabled &&
        DESTDIR=$1.root meson install -C "$1/build"
}
compare_trees() {
    tree $work/tree UTC && tree $work/other-tree Asia/Tokyo || return 1
    for root in $work/tree.root $work/other-tree.root; do
        (cd $root && find . -type f -exec sha256sum {} + -o -type l -printf '%l  %p\n' | sort -k 2) >$root.sums
    done
    diff $work/tree.root.sums $work/other-tree.root.sums && test "$(wc -l <$work/tree.root.sums)" -gt 100
}

lint() {
    lintian --allow-root --fail-on error --tag-display-limit 0 $work/one/*.changes
}

# The files of the root, but what dpkg, apt and programs note of their own.
files() {
    find / -xdev \( -path $work -o -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /root -o -path /steps.sh \
        -o -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/cache -o -path /var/log -o -path /etc/ld.so.cache \) \
        -prune -o -print | sort
}
install_packages() {
    apt-get install -q -y --no-install-recommends $work/one/*.deb || return 1
    dpkg-query -W '*devicepool*'
}
run_tests() {
    cd $work/one/$name || return 1
    for test in programs mpi; do
        sh debian/tests/$test || return 1
    done
    sh debian/tests/readme
    code=$?
    [ $code = 77 ] && echo "the README's program is compiled and not run: no NVRTC here" || return $code
}
purge_packages() {
    packages=$(dpkg-query -W -f '${Package}\n' '*devicepool*')
    apt-get purge -q -y $packages || return 1
    files >$work/after
    diff $work/before $work/after && ! dpkg-query -W -f '${Package} ${Status}\n' '*devicepool*' | grep -v not-installed
}

rm -rf "$work/one" $work/longer $work/rpm $work/again $work/tree* $work/other-tree*
step packages install_needs || exit 1
step build build_one || exit 1
step lintian lint
grep '^[EW]:' $work/lintian.log
if [ "$is_quick" = 0 ]; then
    step rpm build_rpm
    step build-again build_two && step reproducible-packages compare_packages
    step reproducible-trees compare_trees
fi
# What debian/tests need besides; their list is in debian/tests/control.
apt-get install -q -y --no-install-recommends gcc make pkgconf libcmocka-dev man-db openmpi-bin >$work/tests-needs.log 2>&1
files >$work/before
step install install_packages && step tests run_tests
step purge purge_packages
exit $failed
END

failed=0
export distribution is_quick
for distribution; do
    root_make "$distribution" && mkdir -p "$roots/$distribution/packages" && root_copy "$distribution" packages/src || {
        failed=1
        continue
    }
    root_run "$distribution" "$roots/packages.sh" || failed=1
done
exit $failed
