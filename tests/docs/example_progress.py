#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An example shows its steps on a terminal and removes them before its result; elsewhere it shows nothing.
usage: example_progress.py EXAMPLE FIRST-STEP LAST-STEP"""
import os
import pty
import subprocess
import sys

example, first, last = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    os.execv(example, [example, "sim"])
output = b""
try:
    while piece := os.read(terminal, 65536):
        output += piece
except OSError:  # the program has closed the terminal
    pass
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
text = output.decode()
lines = text.split("\r\033[K")
steps = [line.rstrip("\r") for line in lines[1:-1]]
assert code == 0 and lines[0] == "", (code, text)
assert steps[0] == f"{first} ..." and steps[-1] == f"{last} ...", text
assert any(step.endswith("... 100 %") for step in steps), text
result = lines[-1].lstrip("\r").replace("\r\n", "\n")
done = subprocess.run([example, "sim"], capture_output=True, text=True, check=True)
assert done.stdout == result and done.stderr == "", (done, result)
print(f"{len(steps)} steps; {result}", end="")
