#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a table of every public function that is declared and built, for test_all_null.c.
usage: all_null.py MAP HEADER-DIRECTORY OUT"""
import pathlib
import re
import sys

symbol_map, directory, out = sys.argv[1:]
text = re.sub(r"/\*.*?\*/", "", pathlib.Path(symbol_map).read_text(), flags=re.S)
mapped = set(re.findall(r"^\s*(pool_\w+);", text, re.M))
rows = {}
for header in sorted(pathlib.Path(directory).glob("devicepool/*.h")):
    code = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    for result, name, parameters in re.findall(
            r"^POOL_API\s+([\w\s\*]*?)\b(pool_\w+)\s*\(([^;{]*)\)\s*;", code, re.M):
        if name not in mapped:
            continue
        count = 0 if parameters.strip() in ("", "void") else parameters.count(",") + 1
        rows[name] = ("STATUS" if result.strip() == "pool_status" else "OTHER", count)
missing = mapped - set(rows)
if missing:
    sys.exit("not understood in the headers: " + ", ".join(sorted(missing)))
lines = [f"X({name}, {kind}, {count})" for name, (kind, count) in sorted(rows.items())]
pathlib.Path(out).write_text("\n".join(lines) + "\n")
