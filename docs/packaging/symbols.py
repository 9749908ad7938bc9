#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes debian/*.symbols from the symbol maps of the libraries: the version of a symbol is the release that its node
of the map names. DEVICEPOOL_0 is 0.1.0, DEVICEPOOL_0.2 is 0.2.0.

usage: symbols.py [--check]     --check: writes nothing, and fails where a file would change
"""
import pathlib
import re
import sys

PACKAGING = pathlib.Path(__file__).resolve().parent
SOURCE = PACKAGING.parent.parent
MAPS = {"libdevicepool": "src/devicepool.map", "libdevicepool-mpi": "src/mpi/devicepool-mpi.map"}


def nodes(path):
    """(node, its symbols) for each node of a version script."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    for node, body in re.findall(r"(\w[\w.]*)\s*\{(.*?)\}[^;]*;", text, flags=re.S):
        names = re.sub(r"\blocal:.*", "", body, flags=re.S).replace("global:", "")
        yield node, re.findall(r"[\w*]+", names)


def release(node):
    """Debian's version of what a node has."""
    major, minor, patch = re.fullmatch(r"\w*?_(\d+)(?:\.(\d+))?(?:\.(\d+))?", node).groups()
    return f"{major}.{minor or (1 if major == '0' else 0)}.{patch or 0}"


def symbols(library, path):
    lines, found = [], list(nodes(path))
    for node, names in found:
        if not names or any("*" in name for name in names):
            sys.exit(f"{path}: node {node} does not list its symbols")
        lines += [f" {name}@{node} {release(node)}" for name in [node, *names]]
    soversion = re.search(r"_(\d+)", found[0][0]).group(1)
    head = [f"{library}.so.{soversion} {library}{soversion} #MINVER#", f"* Build-Depends-Package: {library}-dev"]
    return PACKAGING / f"debian/{library}{soversion}.symbols", "\n".join(head + sorted(lines)) + "\n"


def main():
    old = []
    for library, path in MAPS.items():
        target, text = symbols(library, SOURCE / path)
        if "--check" not in sys.argv[1:]:
            target.write_text(text)
        elif not target.exists() or target.read_text() != text:
            old.append(f"{target.name} is not what {path} says: run docs/packaging/symbols.py")
    sys.exit("\n".join(old) or 0)


main()
