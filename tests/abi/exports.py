#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the shared library exports = what the public headers declare POOL_API = what the map lists;
and every exported name keeps to the one prefix.
And every public struct with a struct_size has a row in sizes.def.
usage: exports.py NM LIBRARY MAP HEADER-DIRECTORY SIZES [HEADER that is not wholly built yet ...]"""
import pathlib
import re
import subprocess
import sys

nm, library, symbol_map, directory, sizes = sys.argv[1:6]
unbuilt = set(sys.argv[6:])

listing = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True,
                         text=True).stdout
rows = [line.split() for line in listing.splitlines()]
exported = {row[-1].split("@")[0] for row in rows if row[-2] != "A"}

text = re.sub(r"/\*.*?\*/", "", pathlib.Path(symbol_map).read_text(), flags=re.S)
mapped = set()
for block in re.findall(r"global:(.*?)(?:local:|\})", text, re.S):
    names = re.findall(r"[^\s;]+(?=\s*;)", block)
    mapped.update(names)

failures = []
for name in sorted(mapped):
    if not re.fullmatch(r"(pool_|device_pool)\w*", name):
        failures.append(f"{name}: a name or pattern that may not be in the map")

sized = set(re.findall(r"^X\((\w+),", pathlib.Path(sizes).read_text(), re.M))
declared = {}
for header in sorted(pathlib.Path(directory).glob("devicepool/*.h")):
    # mpi.h belongs to a library of its own, which this is run for with that library's map.
    if (header.name == "mpi.h") != symbol_map.endswith("devicepool-mpi.map"):
        continue
    code = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    for declaration in re.findall(r"^POOL_API\b([^;{]*)", code, re.M):
        name = re.search(r"(\w+)\s*\(", declaration).group(1)
        declared[name] = header.name
    for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\n\} \1;", code, re.S):
        # The driver table grows with its list; its layout has a test of its own.
        if "struct_size;" in body and name not in sized and name != "pool_cuda_api":
            failures.append(f"{name} of {header.name} has no row in tests/abi/sizes.def: append "
                            f"X({name}, its last member, its end); test_sizes prints the end")
    if header.name == "mock.h":  # a static library of its own; nothing of it is exported here
        continue
    # A function without POOL_API would be hidden: declared in vain.
    for name in re.findall(r"^(?!POOL_API\b|typedef\b|static\b|#)[a-z][\w \*]*?\b(pool_\w+)\(", code, re.M):
        failures.append(f"{name}: declared in {header.name} without POOL_API")

for name in sorted(exported - mapped):
    failures.append(f"{name}: exported but not in the map")
for name in sorted(mapped - exported):
    failures.append(f"{name}: in the map but not exported")
for name in sorted(exported - set(declared)):
    failures.append(f"{name}: exported but declared in no public header")
absent = {name: header for name, header in declared.items() if name not in exported}
for name, header in sorted(absent.items()):
    if header not in unbuilt:
        failures.append(f"{name}: declared in {header} but not exported")
for header in sorted(unbuilt & set(declared.values()) - set(absent.values())):
    print(f"{header} is whole: take it off unbuilt_headers in tests/abi/meson.build")

print(f"{len(exported)} exported, {len(declared)} declared, {len(mapped)} in the map, "
      f"{len(absent)} not built yet")
for line in failures:
    print(line)
if not exported or not declared:
    sys.exit("nothing to compare")
sys.exit(1 if failures else 0)
