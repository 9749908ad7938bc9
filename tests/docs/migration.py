#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each row of docs/migration.md is held by a program: migration.py ROOT

Every function that the last column names is called, and every member of a struct set, by a test or
an example. Tests that only pass zeros or handles of a forked child do not count.
"""
import glob
import os
import re
import sys

# These call every function, but none with an effect.
NO_EFFECT = ("test_all_null.c", "test_fork_handles.c", "test_sizes.c")


def rows(page):
    with open(page, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
            if line.startswith("| ") and not set(line) <= set("|- \n") and cells[-1] != "here":
                yield number, cells


def programs(root):
    text = []
    for pattern in ("tests/**/*.c", "tests/**/*.h", "docs/examples/*.c"):
        for path in glob.glob(os.path.join(root, pattern), recursive=True):
            if os.path.basename(path) not in NO_EFFECT:
                with open(path, encoding="utf-8", errors="replace") as file:
                    text.append(file.read())
    return "\n".join(text)


def problems(root):
    code = programs(root)
    found = 0
    for number, cells in rows(os.path.join(root, "docs/migration.md")):
        names = re.findall(r"`((?:pool_|\.)[\w.]+)`", cells[-1])
        found += 1
        for name in names:
            member = name.rpartition(".")[2] if "." in name else None
            used = rf"\.{member}\b" if member else rf"\b{name}\b"
            if not re.search(used, code):
                yield f"docs/migration.md:{number}: no test or example uses {name}"
    if found < 85:
        yield f"docs/migration.md: {found} rows were found"


def main():
    failures = list(problems(sys.argv[1]))
    print("\n".join(failures))
    sys.exit(bool(failures))


main()
