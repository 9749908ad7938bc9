#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a public header as Doxygen wants it. The headers have plain comments: one above a
declaration, or above several without an empty line between them, and short ones at a line's end.

usage: header_filter.py HEADER
"""
import re
import sys

AT_END = re.compile(r"([;,]|= -?\w+u?|\bNULL)( *)/\* ")


def filtered(lines):
    depth = 0  # of braces: 0 outside of structs and enumerations
    comment, above, is_comment, is_open = [], [], False, False
    for number, line in enumerate(lines):
        stripped = line.strip()
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


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as header:
        sys.stdout.write("\n".join(filtered(header.read().split("\n"))))
