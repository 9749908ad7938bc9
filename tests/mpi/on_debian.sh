#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tests of ranks with the MPIs of another Debian release, in a root directory that debootstrap makes if it is
# not there: trixie has Open MPI 5.0 and MPICH 4.2, sid Open MPI 6.0 and MPICH 5.0, which are also tested with
# MPI's standard ABI. Needs root and debootstrap; run by hand. The source is seen read-only; the builds stay in ROOT.
# usage: on_debian.sh RELEASE ROOT [MESON-TEST-ARGUMENT ...]      default: --suite mpi
#   DEBIAN_MIRROR (http://deb.debian.org/debian), CUDA_LIBRARIES (/usr/local/cuda/lib): where NVRTC is, if it is
set -eu
release=$1
root=$2
shift 2
[ $# -gt 0 ] || set -- --suite mpi
source=$(cd "$(dirname "$0")/../.." && pwd)
nvrtc=${CUDA_LIBRARIES:-/usr/local/cuda/lib}
packages="gcc g++ meson ninja-build pkg-config ccache python3 iproute2 procps libcmocka-dev libgmp-dev libyaml-dev
    libzstd-dev libcjson-dev liblzma-dev libssl-dev libopenmpi-dev openmpi-bin libmpich-dev mpich"
if [ "${ON_DEBIAN_INSIDE:-}" = "" ]; then
    [ -e "$root/etc/debian_version" ] ||
        debootstrap --variant=minbase "$release" "$root" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}"
    mkdir -p "$root/source" "$root/nvrtc" "$root/builds" "$root/dev/shm"
    cp -L /etc/resolv.conf "$root/etc/resolv.conf"
    ON_DEBIAN_INSIDE=yes exec unshare --mount "$0" "$release" "$root" "$@"
fi
# The mounts end with this process's mount namespace.
mount --make-rprivate /
mount --bind "$root" "$root" # ip netns needs a root that is a mount
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t tmpfs tmpfs "$root/dev/shm"
mount --bind "$source" "$root/source"
mount -o remount,bind,ro "$root/source"
if [ -e "$nvrtc" ]; then
    mount --bind "$(readlink -f "$nvrtc")" "$root/nvrtc"
    mount -o remount,bind,ro "$root/nvrtc"
fi
inside() {
    chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive \
        LD_LIBRARY_PATH=/nvrtc "$@"
}
# shellcheck disable=SC2086
inside dpkg -s $packages >/dev/null 2>&1 || {
    inside apt-get update
    inside apt-get install -y --no-install-recommends $packages
}
# build NAME MESON-OPTION ...
build() {
    name=$1
    shift
    [ -e "$root/builds/$name/build.ninja" ] || inside meson setup "/builds/$name" /source -Dtests=enabled "$@"
    # shellcheck disable=SC2046
    inside ninja -C "/builds/$name" $(inside ninja -C "/builds/$name" -t targets all |
        sed -n 's/^\(tests\/mpi\/test_[^.:]*\|src\/mpi\/devicepool-mpi\|src\/tools\/command\/devicepool\): .*/\1/p') \
        src/devicepool-worker
}
failed=0
build native
inside meson test -C /builds/native --no-rebuild "$@" || failed=1
headers=/usr/lib/x86_64-linux-gnu/openmpi/include/standard_abi
if [ -e "$root$headers/mpi.h" ]; then
    build abi -Dmpi_package=mpi_abi -Dmpi_abi_include=$headers
    inside meson test -C /builds/abi --no-rebuild "$@" || failed=1
fi
exit $failed
