#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our list of CUresult codes against cuda.h's enumeration, by name and in both directions; the same
for NVRTC's results. A newer toolkit may have codes that we do not know: they are printed, and only
with the version that our list is of they are a failure.
usage: cuda_codes.py OUR-driver.h OUR-nvrtc.h DIRECTORY-OF-cuda.h"""
import pathlib
import re
import sys

LIST_VERSION = 13000


def without_comments(path):
    return re.sub(r"/\*.*?\*/", "", pathlib.Path(path).read_text(), flags=re.S)


def enumeration(text, tag):
    body = re.search(r"typedef enum(?: " + tag + r")?\s*\{([^}]*)\}\s*" + tag.replace("cudaError_enum", "CUresult"),
                     text).group(1)
    return {name: int(value, 0) for name, value in re.findall(r"(\w+)\s*=\s*(\w+)", body)}


def our_list(text, macro, prefix):
    body = re.search(r"#define " + macro + r"\(X\)(.*?[^\\])\n", text, re.S).group(1)
    return {prefix + name: int(value) for name, value in re.findall(r"X\(\s*(\w+),[\s\\]*(\d+)", body)}


def compare(what, ours, theirs, is_exact):
    wrong = [f"{name}: here {code}, there {theirs.get(name, 'absent')}"
             for name, code in ours.items() if theirs.get(name) != code]
    unknown = [f"{name} = {code} is not in our list"
               for name, code in theirs.items() if name not in ours]
    for line in wrong + unknown:
        print(f"{what}: {line}")
    print(f"{what}: {len(ours)} codes here, {len(theirs)} there")
    if len(ours) < 10 or len(theirs) < 10:
        sys.exit(f"{what}: the lists could not be read")
    return bool(wrong) or (is_exact and bool(unknown))


driver, nvrtc, toolkit = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
cuda = without_comments(toolkit / "cuda.h")
version = int(re.search(r"#define CUDA_VERSION (\d+)", cuda).group(1))
ours = our_list(without_comments(driver), "POOL_CU_RESULTS", "CUDA_ERROR_")
ours["CUDA_SUCCESS"] = ours.pop("CUDA_ERROR_SUCCESS")
failed = compare("cuda.h", ours, enumeration(cuda, "cudaError_enum"), version == LIST_VERSION)
failed |= compare("nvrtc.h", our_list(without_comments(nvrtc), "NVRTC_RESULTS", "NVRTC_"),
                  enumeration(without_comments(toolkit / "nvrtc.h"), "nvrtcResult"),
                  version == LIST_VERSION)
sys.exit(1 if failed else 0)
