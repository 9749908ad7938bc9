#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# NVRTC that is opened by its path does not find its own builtins library, which lies in the same directory.
#
# libnvrtc.so.12 opens libnvrtc-builtins.so.12.4 by its bare name and has no RUNPATH. A program that dlopens NVRTC by an
# absolute path, as toolkits in unusual places need it, creates programs without an error, and every compilation fails with
# code 7 (NVRTC_ERROR_BUILTIN_OPERATION_FAILURE) although the file is installed as it should be. What helps: dlopen the builtins
# by their path first, since the loader then takes the bare name for what is loaded.
#
# Output seen:
#     nvrtc: error: failed to open libnvrtc-builtins.so.12.4.
#       Make sure that libnvrtc-builtins.so.12.4 is installed correctly.
#     opened by path:               create 0 compile 7
#     after its builtins by path:   create 0 compile 0
#
# Seen with NVRTC 12.4.127 of Debian trixie (non-free), amd64. Exit 0: as described; 1: changed; 77: cannot be tried here.
set -u
version=12.4.127~12.4.1-2
keys=/usr/share/keyrings/debian-archive-keyring.gpg
if ! command -v apt-get >/dev/null || ! command -v python3 >/dev/null || [ ! -e "$keys" ]; then
    echo "needs apt-get, python3 and debian-archive-keyring"
    exit 77
fi
if ldconfig -p 2>/dev/null | grep -q 'libnvrtc-builtins\.so\.12\.4'; then
    echo "the builtins of 12.4 are in the loader's cache of this host, where they are always found"
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
    apt-get $options download "libnvrtc12=$version" "libnvrtc-builtins12.4=$version"); then
    echo "the packages cannot be fetched"
    exit 77
fi
for package in "$scratch"/packages/*.deb; do
    dpkg-deb -x "$package" "$scratch/root" || exit 77
done

cat >"$scratch/compile.py" <<'END'
import ctypes, glob, sys

root, opens_builtins_first = sys.argv[1], sys.argv[2] == "first"
library = sorted(glob.glob(root + "/usr/lib/*/libnvrtc.so.12"))[0]
builtins = sorted(glob.glob(root + "/usr/lib/*/libnvrtc-builtins.so.12.4"))[0]
assert library.rsplit("/", 1)[0] == builtins.rsplit("/", 1)[0]
if opens_builtins_first:
    ctypes.CDLL(builtins)
nvrtc = ctypes.CDLL(library)
program = ctypes.c_void_p()
source = b'extern "C" __global__ void store(int *to) { *to = 1; }'
created = nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"store.cu", 0, None, None)
compiled = nvrtc.nvrtcCompileProgram(program, 0, None)
size = ctypes.c_size_t()
nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
log = ctypes.create_string_buffer(size.value + 1)
nvrtc.nvrtcGetProgramLog(program, log)
print(log.value.decode().strip(), file=sys.stderr)
print("create", created, "compile", compiled)
END
alone=$(python3 "$scratch/compile.py" "$scratch/root" alone)
first=$(python3 "$scratch/compile.py" "$scratch/root" first)
echo "opened by path:               $alone"
echo "after its builtins by path:   $first"
[ "$alone" = "create 0 compile 7" ] && [ "$first" = "create 0 compile 0" ]
