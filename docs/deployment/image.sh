#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The steps of a container image with the example service, on Debian or Ubuntu as root. The Dockerfile calls them, and
# tests/image.sh runs them in fresh roots of Debian.
#
#     image.sh build OUTPUT      in the source tree: installs what the build needs, builds library, command and service, and
#                                puts what the image needs into the directory OUTPUT
#     image.sh pack OUTPUT       after build: compiles kernels for CHIPS into OUTPUT; without NVRTC or CHIPS a no-op
#     image.sh install OUTPUT    in the image: installs packages and files, makes the user, and checks the result
#
# CHIPS     compute capabilities without their points, for example "80,90,120"
# NAMES     what is compiled for them, default "bn254_fr bn254_g1 circom-bn254-t3", the programs of the example service; "all"
# NVRTC     the file libnvrtc.so.13 with its libnvrtc-builtins beside it; default: what the library finds
set -eu
step=${1:-}
output=${2:-}
[ -n "$output" ] || {
    echo "usage: image.sh build|pack|install OUTPUT" >&2
    exit 2
}
user=prover

say() {
    echo "image: $*"
}

# The packages of the libraries that the files are linked with, but for those of devicepool itself.
packages_of() {
    for file in "$@"; do
        LD_LIBRARY_PATH="$output/files/usr/lib" ldd "$file" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p'
    done | sort -u | while read -r library; do
        case $library in
        "$output"/*) ;;
        *) # with a merged /usr the package may name the file without it
            real=$(realpath "$library")
            dpkg-query -S "$real" 2>/dev/null || dpkg-query -S "${real#/usr}" 2>/dev/null || true
            ;;
        esac
    done | sed 's/:.*//' | sort -u
}

build() {
    . tests/install-needs.sh
    build_needs
    need libmicrohttpd-dev test -e /usr/include/microhttpd.h
    need make command -v make
    install_needs
    rm -rf "$output"
    mkdir -p "$output/files"
    [ -f build/image/build.ninja ] ||
        meson setup build/image --prefix=/usr --libdir=lib -Dtests=disabled -Dmpi=disabled -Ddefault_library=shared
    ninja -C build/image
    DESTDIR="$output/stage" meson install -C build/image --no-rebuild --quiet
    mkdir -p "$output/files/usr/bin" "$output/files/usr/lib" "$output/files/usr/libexec"
    cp -P "$output"/stage/usr/lib/libdevicepool.so.* "$output/files/usr/lib/"
    cp "$output/stage/usr/bin/devicepool" "$output/files/usr/bin/"
    cp "$output/stage/usr/libexec/devicepool-worker" "$output/files/usr/libexec/"
    # The service is built as a user of the library does, against what has been staged.
    mkdir -p build/image/service
    PKG_CONFIG_SYSROOT_DIR="$output/stage" PKG_CONFIG_PATH="$output/stage/usr/lib/pkgconfig" \
        make -s -C build/image/service -f "$PWD/docs/examples/Makefile" service
    cp build/image/service/service "$output/files/usr/bin/devicepool-service"
    rm -rf "$output/stage"
    packages_of "$output/files/usr/bin/devicepool" "$output/files/usr/bin/devicepool-service" \
        "$output/files/usr/libexec/devicepool-worker" >"$output/packages"
    [ -s "$output/packages" ] || {
        echo "image: no packages were found for the libraries of $output" >&2
        exit 1
    }
    say "built: $(du -sh "$output/files" | cut -f 1), packages $(tr '\n' ' ' <"$output/packages")"
}

pack() {
    packs="$output/files/usr/lib/devicepool/packs"
    [ -z "${NVRTC:-}" ] || export DEVICEPOOL_NVRTC="$NVRTC"
    if [ -z "${CHIPS:-}" ]; then
        say "no packs: CHIPS is not set"
        return
    fi
    export LD_LIBRARY_PATH="$output/files/usr/lib" DEVICEPOOL_CACHE_DIR="$PWD/build/image/cache"
    if "$output/files/usr/bin/devicepool" version | grep -q '^nvrtc  *none'; then
        say "no packs: there is no NVRTC; kernels are compiled or prebuilt PTX is used when the service starts"
        return
    fi
    mkdir -p "$packs"
    # shellcheck disable=SC2086 # several names
    "$output/files/usr/bin/devicepool" warm-up --chip "$CHIPS" --output "$packs" \
        ${NAMES:-bn254_fr bn254_g1 circom-bn254-t3}
    say "packs: $(cd "$packs" && echo *)"
}

install() {
    apt-get update -qq
    # shellcheck disable=SC2046 # a list on purpose
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(cat "$output/packages") >/dev/null
    rm -rf /var/lib/apt/lists/*
    # Not as "cp -a files /", which would give the directories of the system to the files' owner.
    (cd "$output/files" && find . -type d -exec sh -ec 'for d; do [ -d "/$d" ] || mkdir -m 755 "/$d"; done' sh {} + &&
        find . ! -type d -exec sh -ec 'for f; do cp -P "$f" "/$f"; chown -h 0:0 "/$f"; done' sh {} +)
    ldconfig
    id "$user" >/dev/null 2>&1 || useradd --system --uid 10001 --user-group --home-dir /var/lib/$user --shell /usr/sbin/nologin $user
    # Its parents belong to root, so that the library uses it: the disk cache, on a volume.
    mkdir -p /var/cache/$user /run/$user
    chown $user:$user /var/cache/$user /run/$user
    chmod 700 /var/cache/$user
    check
}

# What the image must be able to do without a GPU: the command and its libraries, a proof's arithmetic on a simulated device by
# the prebuilt PTX, and the packs, if there are any.
check() {
    devicepool version >/dev/null
    DEVICEPOOL_CACHE_DIR=/var/cache/$user/check DEVICEPOOL_NVRTC=off \
        devicepool selftest -d sim:1,cc=75 --only ntt >/dev/null
    rm -rf /var/cache/$user/check
    for file in /usr/lib/devicepool/packs/*.pack; do
        [ ! -e "$file" ] || devicepool cache verify "$file"
    done
    say "checked: $(devicepool version | head -n 1)"
}

case $step in
build | pack | install) "$step" ;;
*)
    echo "image: no step '$step'; there are build, pack and install" >&2
    exit 2
    ;;
esac
