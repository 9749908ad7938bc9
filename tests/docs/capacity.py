#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/capacity.md are what docs/examples/capacity.c prints.   capacity.py PROGRAM PAGE"""
import pathlib
import subprocess
import sys

printed = subprocess.run([sys.argv[1]], capture_output=True, text=True, check=True).stdout
page = pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")
tables = printed.strip().split("\n\n")
wrong = [table for table in tables if "\n\n" + table + "\n\n" not in page]
for table in wrong:
    print(f"{sys.argv[2]} has no such table:\n{table}\n")
print(f"{len(tables)} tables, {len(wrong)} wrong")
sys.exit(1 if wrong or len(tables) < 4 else 0)
