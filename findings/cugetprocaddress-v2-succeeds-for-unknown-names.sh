#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cuGetProcAddress_v2 returns CUDA_SUCCESS for a function that does not exist.
#
# As of CUDA 12.0 cuda.h maps cuGetProcAddress to cuGetProcAddress_v2. Where the first one returns CUDA_ERROR_NOT_FOUND (500) for an
# unknown name, and for a function that is newer than the version that was requested, the second one returns CUDA_SUCCESS, a NULL
# pointer, and the reason in its last argument (1: no such symbol, 2: the version is too low). A program that was written for 11.3
# and checks the result alone calls NULL once it is compiled with newer headers. A name with its suffix (cuMemAlloc_v2) is unknown
# to both: the version decides. Both answer before cuInit and on hosts without a GPU.
#
# Output seen:
#     cuNothing 12000: first 500, second 0, pointer None, reason 1
#     cuMemAlloc_v2 12000: first 500, second 0, pointer None, reason 1
#     cuGreenCtxCreate 12000: first 500, second 0, pointer None, reason 2
#     cuGreenCtxCreate 12040: first 0, second 0, pointer set, reason 0
#
# Seen with libcuda 550.163.01 of Debian trixie (non-free), amd64. Exit 0: as described; 1: changed; 77: cannot be tried here.
set -u
version=550.163.01-2
keys=/usr/share/keyrings/debian-archive-keyring.gpg
if ! command -v apt-get >/dev/null || ! command -v python3 >/dev/null || [ ! -e "$keys" ]; then
    echo "needs apt-get, python3 and debian-archive-keyring"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/lists/partial" "$scratch/cache/archives/partial" "$scratch/packages" "$scratch/root"
touch "$scratch/status"
echo "deb [signed-by=$keys] ${MIRROR:-http://deb.debian.org/debian} trixie non-free" >"$scratch/sources.list"
options="-qq -o Dir::Etc::SourceList=$scratch/sources.list -o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::Parts=/dev/null
    -o Dir::State=$scratch -o Dir::State::Lists=$scratch/lists -o Dir::State::status=$scratch/status
    -o Dir::Cache=$scratch/cache -o APT::Sandbox::User=$(id -un)"
# shellcheck disable=SC2086
if ! apt-get $options update || ! (cd "$scratch/packages" &&
    apt-get $options download "libcuda1=$version"); then
    echo "the packages cannot be fetched"
    exit 77
fi
for package in "$scratch"/packages/*.deb; do
    dpkg-deb -x "$package" "$scratch/root" || exit 77
done

cat >"$scratch/look_up.py" <<'END'
import ctypes, glob, sys

cuda = ctypes.CDLL(sorted(glob.glob(sys.argv[1] + "/usr/lib/*/nvidia/current/libcuda.so.1"))[0])
for name, version in (("cuNothing", 12000), ("cuMemAlloc_v2", 12000), ("cuGreenCtxCreate", 12000), ("cuGreenCtxCreate", 12040)):
    pointer, reason = ctypes.c_void_p(), ctypes.c_int(-1)
    flags = ctypes.c_uint64(0)
    first = cuda.cuGetProcAddress(name.encode(), ctypes.byref(pointer), version, flags)
    pointer.value = 1
    second = cuda.cuGetProcAddress_v2(name.encode(), ctypes.byref(pointer), version, flags, ctypes.byref(reason))
    print(f"{name} {version}: first {first}, second {second}, pointer {'set' if pointer.value else None}, reason {reason.value}")
END
output=$(python3 "$scratch/look_up.py" "$scratch/root")
echo "$output"
[ "$output" = "cuNothing 12000: first 500, second 0, pointer None, reason 1
cuMemAlloc_v2 12000: first 500, second 0, pointer None, reason 1
cuGreenCtxCreate 12000: first 500, second 0, pointer None, reason 2
cuGreenCtxCreate 12040: first 0, second 0, pointer set, reason 0" ]
