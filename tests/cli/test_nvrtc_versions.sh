#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The self-test with NVRTC 12.4 on simulated devices, and the refusal of 11.8, each outside the loader's path: 11.8
# of Debian bookworm and 12.4 of trixie. apt fetches them into a temporary directory with lists, status and configuration
# of its own, from the host's mirror; nothing of the host's apt is read or written but its keys.
# usage: test_nvrtc_versions.sh DEVICEPOOL [VERSION ...]; exit 77: no apt-get, or the mirror does not answer
#   NVRTC_DIRECTORY: where the packages are unpacked and kept, instead of a temporary directory
set -u
tool=$1
shift
[ $# -gt 0 ] || set -- 11.8 12.4
if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    echo "skipped: no apt-get"
    exit 77
fi
[ "$(dpkg --print-architecture)" = amd64 ] || { echo "skipped: the packages are for amd64"; exit 77; }
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e "$keys" ] || { echo "skipped: no keys of Debian's archive"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
directory=${NVRTC_DIRECTORY:-$scratch}
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
    grep -v '^ *#' | grep -o 'https\{0,1\}://[^ ]*/debian/\{0,1\}\( \|$\)' | head -1 | tr -d ' ')
mirror=${mirror:-http://deb.debian.org/debian}

# fetch VERSION SUITE PACKAGE ...: unpacks the packages of the suite to DIRECTORY/VERSION.
fetch() {
    to=$directory/$1
    suite=$2
    shift 2
    [ -e "$to/done" ] && return
    apt=$scratch/apt-$suite
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/packages" "$to"
    touch "$apt/status" "$apt/apt.conf"
    echo "deb [signed-by=$keys] $mirror $suite non-free" >"$apt/sources.list"
    options="-qq -o Dir::Etc::SourceList=$apt/sources.list -o Dir::Etc::SourceParts=/dev/null
        -o Dir::Etc::Parts=/dev/null -o Dir::State=$apt -o Dir::State::Lists=$apt/lists
        -o Dir::State::status=$apt/status -o Dir::Cache=$apt/cache -o Acquire::Languages=none
        -o APT::Sandbox::User=$(id -un) -o Acquire::Retries=1 -o Acquire::http::Timeout=20"
    # shellcheck disable=SC2086
    apt-get $options update && (cd "$apt/packages" && apt-get $options download "$@") || return
    for package in "$apt"/packages/*.deb; do
        dpkg-deb -x "$package" "$to" || return
    done
    touch "$to/done"
}

failed=0
for version; do
    case $version in
    11.8) fetch 11.8 bookworm libnvrtc11.2 libnvrtc-builtins11.8 ;;
    12.4) fetch 12.4 trixie libnvrtc12 libnvrtc-builtins12.4 ;;
    *) echo "unknown version $version"; exit 1 ;;
    esac || { echo "skipped: NVRTC $version cannot be fetched from $mirror"; exit 77; }
    library=$(echo "$directory/$version"/usr/lib/*/libnvrtc.so.[0-9][0-9] \
        "$directory/$version"/usr/lib/*/libnvrtc.so.11.2 | tr ' ' '\n' | grep -v '\*' | head -1)
    echo "NVRTC $version: $library"
    if [ "$version" = 11.8 ]; then # its code was wrong on a GPU: see tests/README.md
        DEVICEPOOL_NVRTC="$library" "$tool" version | grep "NVRTC 11.8; at least 12.4 is needed" || failed=1
        continue
    fi
    for chip in "90" "60 --quick"; do
        # shellcheck disable=SC2086
        output=$(XDG_CACHE_HOME="$scratch/cache" DEVICEPOOL_NVRTC="$library" \
            "$tool" selftest --json --devices "sim:1,cc=${chip% *}" ${chip#[0-9]*[0-9]}) || failed=1
        echo "$output" | python3 -c "
import json, sys
rows = json.load(sys.stdin)
tests, passed = (sum(row.get(key, 0) for row in rows) for key in ('tests', 'passed'))
skipped = sum(row.get('skipped', 0) for row in rows)
print('cc $chip: %d of %d passed, %d skipped' % (passed, tests, skipped))
sys.exit(passed != tests or skipped != 0 or tests < (10 if 'quick' in '$chip' else 100))" || { echo "$output" | tail -20; failed=1; }
    done
done
exit $failed
