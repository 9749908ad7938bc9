#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# NVRTC refuses an option that is given twice with the same value.
#
# Compilers take the last of repeated options, so a program appends its own to its user's. NVRTC 12.4 fails with code 5
# (NVRTC_ERROR_INVALID_OPTION) for a repeated --std or --gpu-architecture, also where both values are equal. A repeated
# --maxrregcount is accepted, with the warning "incompatible redefinition" for equal values; -D may be repeated. So a program
# that adds options has to look for its user's first.
#
# Output seen:
#     --std=c++17 --std=c++17 -> 5 nvrtc: error: --std (-std) defined more than once
#     --maxrregcount=64 --maxrregcount=64 -> 0 nvrtc: warning: incompatible redefinition for option '--maxrregcount', the last …
#     --gpu-architecture=compute_80 --gpu-architecture=compute_80 -> 5 nvrtc: error: --gpu-architecture (-arch) defined more …
#     -DA=1 -DA=1 -> 0
#
# Seen with NVRTC 12.4.127 of Debian trixie (non-free), amd64. Exit 0: as described; 1: changed; 77: cannot be tried here.
set -u
version=12.4.127~12.4.1-2
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
    apt-get $options download "libnvrtc12=$version" "libnvrtc-builtins12.4=$version"); then
    echo "the packages cannot be fetched"
    exit 77
fi
for package in "$scratch"/packages/*.deb; do
    dpkg-deb -x "$package" "$scratch/root" || exit 77
done


cat >"$scratch/compile.py" <<'END'
import ctypes, glob, sys

root = sys.argv[1]
ctypes.CDLL(sorted(glob.glob(root + "/usr/lib/*/libnvrtc-builtins.so.12.4"))[0])
nvrtc = ctypes.CDLL(sorted(glob.glob(root + "/usr/lib/*/libnvrtc.so.12"))[0])


def compile(*options):
    program = ctypes.c_void_p()
    source = b'extern "C" __global__ void store(int *to) { *to = 1; }'
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"store.cu", 0, None, None)
    texts = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    code = nvrtc.nvrtcCompileProgram(program, len(options), texts)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value + 1)
    nvrtc.nvrtcGetProgramLog(program, log)
    print(" ".join(options), "->", code, log.value.decode().strip())
    return code


once = [compile(option) for option in ("--std=c++17", "--maxrregcount=64", "--gpu-architecture=compute_80", "-DA=1")]
twice = [compile(option, option) for option in ("--std=c++17", "--maxrregcount=64", "--gpu-architecture=compute_80", "-DA=1")]
sys.exit(once != [0, 0, 0, 0] or twice != [5, 0, 5, 0])
END
python3 "$scratch/compile.py" "$scratch/root"
