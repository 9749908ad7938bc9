#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes absent.def: the functions of cuda.h that libcuda over simulated devices does not have.

usage: absent.py DIRECTORY-OF-CUDA.H [LIBCUDA.SO]   (writes to standard output)

The names are those that cuda.h and the other headers of the driver declare, and those that a real
libcuda exports, if one is given; the versions are those of cudaTypedefs.h. To be run when a newer
toolkit adds functions, or when functions are added to the simulated ones.
"""
import pathlib
import re
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
include = pathlib.Path(sys.argv[1])
source = "".join((include / name).read_text() for name in ("cuda.h", "cudaProfiler.h", "cudaGL.h", "cudaVDPAU.h",
                                                           "cudaEGL.h"))
typedefs = "".join((include / name).read_text() for name in (
    "cudaTypedefs.h", "cudaProfilerTypedefs.h", "cudaGLTypedefs.h", "cudaVDPAUTypedefs.h", "cudaEGLTypedefs.h"))
declared = set(re.findall(r"CUDAAPI\s+(cu[A-Z]\w*)\s*\(", source))
renamed = dict(re.findall(r"#\s*define\s+(cu[A-Z]\w*)\s+(cu\w+_v\d+)\s", source))
for macro, suffix in (("PTSZ", "_ptsz"), ("PTDS", "_ptds")):
    for name, exported in re.findall(r"#\s*define\s+(cu[A-Z]\w*)\s+__CUDA_API_" + macro + r"\((cu\w+)\)", source):
        declared |= {exported, exported + suffix}
declared |= set(renamed.values())
if len(sys.argv) > 2:
    listed = subprocess.run(["nm", "-D", "--defined-only", sys.argv[2]], check=True, capture_output=True, text=True)
    declared |= {line.split()[2] for line in listed.stdout.splitlines() if re.match(r"cu[A-Z]", line.split()[2])}

versions = {}
for name, version in re.findall(r"PFN_(cu[A-Z]\w*?)_v(\d+)(?:_pts[zd]|_ptds)?\)", typedefs):
    versions.setdefault(name, set()).add(int(version))

table = (here / "../../../../include/devicepool/driver.h").read_text().replace("\\\n", " ")
present = {name + suffix for name, suffix in re.findall(r'X\(\w+, "(cu\w+)",\s*"(\w*)",\s*\d+', table)}
text = (here / "more.def").read_text()
present |= set(re.findall(r"^(?:MORE|THREAD|WAITS)\((\w+)", text, re.M))
present |= {name + "_ptsz" for name in re.findall(r"^THREAD\((\w+)", text, re.M)}
present |= {name + "_ptds" for name in re.findall(r"^WAITS\((\w+)", text, re.M)}
present |= set(re.findall(r'"(\w+)"', (here / "thread_names.def").read_text()))


def base(name):
    return re.sub(r"_v\d+$", "", re.sub(r"_pt[sd][zs]$", "", name))


def order(name):
    found = re.search(r"_v(\d+)(?:_pt[sd][zs])?$", name)
    return int(found.group(1)) if found else 1


def version_of(name):
    """The versions of a name's variants are in the order of their suffixes."""
    variants = sorted({order(other) for other in declared if base(other) == base(name)})
    known = sorted(v for v in versions.get(base(name), {2000}))
    return known[min(variants.index(order(name)), len(known) - 1)]


print("/* SPDX-License-Identifier: Apache-2.0 */")
print("/*\n * Functions of the driver that are not simulated: ABSENT(exported name, name for cuGetProcAddress, CUDA\n"
      " * version as of which it exists). Written by absent.py; not to be edited.\n */")
for name in sorted(declared - present):
    print(f'ABSENT({name}, "{base(name)}", {version_of(name)})')
