#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the targets that the tests of a selection of suites need, relative to the build directory.

usage: targets.py BUILD-DIRECTORY [--suite NAME | --no-suite NAME]...     (as for meson test)
"""
import json
import os
import sys


def main():
    build, options = sys.argv[1], sys.argv[2:]
    chosen = {options[i + 1] for i in range(0, len(options), 2) if options[i] == "--suite"}
    left_out = {options[i + 1] for i in range(0, len(options), 2) if options[i] == "--no-suite"}

    def read(kind):
        with open(f"{build}/meson-info/intro-{kind}.json", encoding="utf-8") as file:
            return json.load(file)

    files = {target["id"]: target["filename"] for target in read("targets")}
    needed = set()
    for test in read("tests"):
        suites = {name.rsplit(":", 1)[-1] for name in test["suite"]}
        if suites & left_out or (chosen and not suites & chosen):
            continue
        for target in test["depends"]:
            needed.update(os.path.relpath(path, os.path.abspath(build)) for path in files[target])
    print("\n".join(sorted(needed)))


main()
