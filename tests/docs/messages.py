#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every message that docs/troubleshooting.md quotes, the code spans of the first column of its tables, is in the sources: its
pieces between the marks … occur in one string literal, in that order.   messages.py ROOT"""
import pathlib
import re
import sys

LITERAL = r'"(?:[^"\\\n]|\\.)*"'


def literals(text):
    """String literals of C, adjacent ones joined. A macro of formats between two of them is joined as well."""
    for found in re.finditer(rf"{LITERAL}(?:\s*(?:PRI\w+\s*)?{LITERAL})*", text):
        yield "".join(piece[1:-1] for piece in re.findall(LITERAL, found[0])).replace('\\"', '"')


def has(texts, message):
    pieces = [piece for piece in re.split(r"\s*…\s*", message) if piece]
    pattern = re.compile(".*".join(re.escape(piece) for piece in pieces), re.S)
    return any(pattern.search(text) for text in texts)


def main():
    root = pathlib.Path(sys.argv[1])
    texts = [text for path in sorted((root / "src").rglob("*")) + sorted((root / "include").rglob("*.h"))
             if path.suffix in (".c", ".h", ".def") for text in literals(path.read_text(encoding="utf-8"))]
    page = (root / "docs/troubleshooting.md").read_text(encoding="utf-8")
    quoted = [first or second for first, second in re.findall(r"^\| (?:`` ?(.+?)``|`(.+?)`) \|", page, re.M)]
    rows = [line for line in page.split("\n") if line.startswith("| ") and not line.startswith("| message")]
    wrong = [message for message in quoted if not has(texts, message)]
    assert not has(texts, "a message that no source has") and has(texts, "was not found and … kernel module is loaded")
    for message in wrong:
        print(f"docs/troubleshooting.md: no source has the message '{message}'")
    print(f"{len(quoted)} messages in {len(rows)} rows, {len(wrong)} wrong")
    return 1 if wrong or not quoted or len(quoted) != len(rows) else 0


sys.exit(main())
