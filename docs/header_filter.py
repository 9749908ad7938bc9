#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a public header as Doxygen wants it. The headers have plain comments: one above a
declaration, or above several without an empty line between them, and short ones at a line's end.
The reference has a group for each tier of headers, which are the comments of devicepool.h.

usage: header_filter.py HEADER
"""
import pathlib
import re
import sys

AT_END = re.compile(r"([;,]|= -?\w+u?|\bNULL)( *)/\* ")


INCLUDE = re.compile(r"#include <devicepool/(\w+\.h)>")
TIER = re.compile(r"/\* ([a-z ]+) \*/$")
OUTSIDE = {"mock.h": "testing"}  # not in devicepool.h: it belongs to a library of its own


def tiers_of(umbrella):
    """The tier of each header, in the order of devicepool.h."""
    tiers, tier = {}, None
    for line in umbrella.read_text(encoding="utf-8").split("\n"):
        if TIER.match(line):
            tier = TIER.match(line).group(1)
        elif INCLUDE.match(line):
            tiers[INCLUDE.match(line).group(1)] = tier
    return {**tiers, **OUTSIDE}


def name_of(tier):
    return "tier_" + tier.replace(" ", "_")


def definitions(tiers):
    for tier in dict.fromkeys(tiers.values()):
        headers = ", ".join(f"devicepool/{header}" for header, of in tiers.items() if of == tier)
        yield f"/** \\defgroup {name_of(tier)} {tier.capitalize()}"
        yield f" * The declarations of {headers}. */"


def grouped(lines, tier):
    """The lines with everything between the include guard's lines in the tier's group."""
    start = next(i for i, line in enumerate(lines) if line.startswith("#define DEVICEPOOL_"))
    end = max(i for i, line in enumerate(lines) if line.startswith("#endif"))
    yield from lines[:start + 1]
    yield f"/** @addtogroup {name_of(tier)}"
    yield " * @{ */"
    yield from lines[start + 1:end]
    yield "/** @} */"
    yield from lines[end:]


def filtered(lines):
    depth = 0  # of braces: 0 outside of structs and enumerations
    comment, above, is_comment, is_open = [], [], False, False
    for number, line in enumerate(lines):
        stripped = line.strip()
        is_tier = INCLUDE.match(lines[number + 1]) if number + 1 < len(lines) else False
        if number == 0 or (is_tier and TIER.match(line)):
            yield line  # the licence or the name of a tier, which describe no declaration
            continue
        if not is_comment and stripped.startswith("/*"):
            is_comment = True
            line = line.replace("/*", "/** \\file" if number == 1 else "/**", 1)
            comment = []
        if is_comment:
            comment.append(line)
            yield line
            if stripped.endswith("*/"):
                is_comment = False
                if depth == 0:
                    above, is_open = comment, False
            continue
        ends_linkage = stripped == "}" and depth == 0
        if not stripped or stripped.startswith("#") or 'extern "C"' in stripped or ends_linkage:
            above, is_open = [], False
        elif depth == 0:
            if is_open:  # another declaration under the same comment
                yield from above
                is_open = False
        code = re.sub(r"/\*.*", "", line)
        if 'extern "C"' not in code and not ends_linkage:
            depth += code.count("{") - code.count("}")
        if depth == 0 and ";" in code and above:
            is_open = True
        yield AT_END.sub(r"\1\2/**< ", line)


def main():
    path = pathlib.Path(sys.argv[1])
    lines = list(filtered(path.read_text(encoding="utf-8").split("\n")))
    is_umbrella = path.name == "devicepool.h"
    tiers = tiers_of(path if is_umbrella else path.parent.parent / "devicepool.h")
    if is_umbrella:
        lines += definitions(tiers)
    else:
        lines = grouped(lines, tiers[path.name])
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
