# SPDX-License-Identifier: Apache-2.0
"""devicepool devices --watch: on a terminal, in a pipe, its end by signals and by a reader that is gone.

usage: test_watch.py DEVICEPOOL
"""
import ctypes
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time

TOOL = sys.argv[1]
WATCH = [TOOL, "devices", "-d", "sim:2"]


def start(*arguments):
    return subprocess.Popen([*WATCH, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def end(child, number):
    child.send_signal(number)
    output, errors = child.communicate(timeout=60)
    assert child.returncode == 0 and not errors, (number, child.returncode, errors)
    return output


def test_pipe():
    """Text is separated by empty lines, and JSON is a sequence of whole values."""
    child = start("--watch")
    first = child.stdout.readline()
    lines = [first]
    while lines.count(first) < 3:
        lines.append(child.stdout.readline())
    end(child, signal.SIGINT)
    starts = [n for n, line in enumerate(lines) if line == first]
    assert lines[starts[1] - 1] == b"\n" and b"\033" not in b"".join(lines), lines
    child = start("--watch=1", "--json")
    text, values = b"", []
    while len(values) < 2:  # the first is whole when the second has begun
        text += os.read(child.stdout.fileno(), 65536)
        values = parse(text)
    values = parse(text + end(child, signal.SIGTERM))
    assert len(values) >= 2 and all(len(value["devices"]) == 2 for value in values), values


def parse(text):
    """The whole values at the beginning of the text."""
    text, values = text.decode().strip(), []
    try:
        while text:
            value, used = json.JSONDecoder().raw_decode(text)
            values.append(value)
            text = text[used:].lstrip()
    except json.JSONDecodeError:
        pass
    return values


def takes_signals(process, thread):
    with open(f"/proc/{process}/task/{thread}/status", encoding="ascii") as file:
        blocked = next(int(line.split()[1], 16) for line in file if line.startswith("SigBlk:"))
    return not blocked >> (signal.SIGINT - 1) & 1


def test_signal_on_another_thread():
    """The wait ends where another thread gets the signal, too, as it can at any time."""
    child = start("-w3600")
    child.stdout.readline()
    time.sleep(0.3)  # until it waits
    others = [thread for thread in map(int, os.listdir(f"/proc/{child.pid}/task"))
              if thread != child.pid and takes_signals(child.pid, thread)]
    assert others
    begin = time.monotonic()
    assert ctypes.CDLL(None, use_errno=True).tgkill(child.pid, others[0], signal.SIGINT) == 0
    child.communicate(timeout=100)
    assert child.returncode == 0 and time.monotonic() - begin < 30, time.monotonic() - begin


def test_reader():
    """The command ends when its reader does, although the next picture is an hour away."""
    child = start("-w3600")
    child.stdout.readline()
    begin = time.monotonic()
    child.stdout.close()
    assert child.wait(60) == 0 and time.monotonic() - begin < 60, child.returncode
    assert child.stderr.read() == b""


def test_terminal():
    """Each picture takes the place of the one before."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(TOOL, [*WATCH, "--watch"])
    output, limit = b"", time.monotonic() + 60
    while output.count(b"\033[H\033[2J") < 2 or output.count(b"Ctrl-C ends") < 2:
        assert time.monotonic() < limit and select.select([terminal], [], [], 60)[0], output
        output += os.read(terminal, 65536)
    os.write(terminal, b"\x03")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.close(terminal)


def test_refused():
    for seconds, reason in (("0", "must be 1 to"), ("1000000", "must be 1 to"), ("x", "takes a number")):
        done = subprocess.run([*WATCH, "--watch=" + seconds], stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 2 and reason in done.stderr, done


for test in test_pipe, test_signal_on_another_thread, test_reader, test_terminal, test_refused:
    test()
