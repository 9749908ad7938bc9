#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of settings in docs/configuration.md and docs/devicepool.1 from
src/base/settings.def, or with --check fails if they differ.

usage: settings.py [--check] SOURCE-DIRECTORY"""
import pathlib
import re
import sys

ROW = re.compile(r'^SETTING\((\w+), "(\w+)",\s*"((?:[^"\\]|\\.)*)",\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)$', re.M)


def read(root):
    text = (root / 'src/base/settings.def').read_text()
    rows = [(name, fallback, ''.join(re.findall(r'"((?:[^"\\]|\\.)*)"', meaning)))
            for _, name, fallback, meaning in ROW.findall(text)]
    if len(rows) != text.count('\nSETTING('):
        sys.exit('settings.def has rows that are not understood')
    return rows


def page(rows):
    lines = ['| name | meaning | default |', '|---|---|---|']
    return '\n'.join(lines + [f'| `{name}` | {meaning} | {fallback} |' for name, fallback, meaning in rows]) + '\n'


def manual(rows):
    """Without the quotation marks of Markdown; a line of mdoc does not begin with a full stop."""
    text = ''
    for name, fallback, meaning in rows:
        plain = meaning.replace('`', '').replace('\\', '\\e')
        text += f'.It Ev {name}\n{plain[0].upper() + plain[1:]}\n(default: {fallback.replace("`", "")}).\n'
    return text


def replaced(text, start, end, new, path):
    head, found, rest = text.partition(start)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        sys.exit(f'{path} lacks the marks around the settings')
    return head + start + new + end + tail


def main():
    arguments = sys.argv[1:]
    is_check = arguments[:1] == ['--check']
    root = pathlib.Path(arguments[is_check])
    rows = read(root)
    code = 0
    for name, start, end, new in (
            ('docs/configuration.md', '<!-- settings -->\n\n', '\n<!-- end of settings -->', page(rows)),
            ('docs/devicepool.1', '.\\" settings\n', '.\\" end of settings\n', manual(rows))):
        path = root / name
        text = path.read_text()
        wanted = replaced(text, start, end, new, name)
        if wanted == text:
            continue
        if is_check:
            print(f'{name} differs from src/base/settings.def: run docs/settings.py .')
            code = 1
        else:
            path.write_text(wanted)
    sys.exit(code)


main()
