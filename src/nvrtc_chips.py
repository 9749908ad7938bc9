#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the chips for which the NVRTC of this host compiles machine code: 75 80 86 ... It is the one that the library would
use first: DEVICEPOOL_NVRTC, or the newest in the library path and in the toolkit's directories."""
import ctypes
import os
import sys

NAMES = ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so")


def candidates():
    named = os.environ.get("DEVICEPOOL_NVRTC")
    if named:
        yield named
        return
    for name in NAMES:
        yield name
        for root in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
            for directory in ("lib64", "lib"):
                if root:
                    yield os.path.join(root, directory, name)


def main():
    for path in candidates():
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        count = ctypes.c_int()
        if library.nvrtcGetNumSupportedArchs(ctypes.byref(count)):
            continue
        chips = (ctypes.c_int * count.value)()
        if library.nvrtcGetSupportedArchs(chips):
            continue
        print(*chips)
        return
    sys.exit("no libnvrtc was found; DEVICEPOOL_NVRTC names one")


main()
