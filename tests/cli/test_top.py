#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""devicepool top with a running service: JSON, the view on a terminal, its end by key, signal and end of the service.

usage: test_top.py DEVICEPOOL STATUS_SERVICE
"""
import json
import os
import pty
import select
import signal
import subprocess
import sys
import tempfile
import termios
import time

TOOL, SERVICE = sys.argv[1:]


def start_service(path):
    service = subprocess.Popen([SERVICE, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert service.stdout.readline() == "ready\n"
    return service


def end_service(service):
    service.stdin.close()
    assert service.wait(30) == 0


def read_until(terminal, text, output=b""):
    """The output of the terminal up to and with `text`."""
    end = time.monotonic() + 30
    while text not in output:
        assert time.monotonic() < end and select.select([terminal], [], [], 30)[0], output
        try:
            output += os.read(terminal, 65536)
        except OSError:  # the program has ended
            break
    assert text in output, output
    return output


def watch(path, finish):
    """Runs the command on a terminal until it is drawn twice, then finish(pid, terminal). Its exit code and output."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.execv(TOOL, [TOOL, "top", path])
    settings = termios.tcgetattr(terminal)
    output = read_until(terminal, b"q: quit")
    output += read_until(terminal, b"q: quit")
    finish(pid, terminal)
    output += read_until(terminal, b"\033[?1049l")
    _, status = os.waitpid(pid, 0)
    assert termios.tcgetattr(terminal)[3] == settings[3], "the terminal is not restored"
    try:
        output += os.read(terminal, 65536)
    except OSError:
        pass
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), output.decode()


def main():
    with tempfile.TemporaryDirectory() as directory:
        path = f"{directory}/socket"
        service = start_service(path)
        snapshot = json.loads(subprocess.check_output([TOOL, "top", path]))
        assert snapshot["pid"] == service.pid and snapshot["health"]["harmed"] == "none"
        used = next(f for f in snapshot["metrics"] if f["name"] == "devicepool_memory_used_bytes")
        assert {s["labels"]["device"]: s["value"] for s in used["samples"]} == {"0": 0, "1": 1 << 20}

        code, output = watch(path, lambda pid, terminal: os.write(terminal, b"xq"))
        assert code == 0 and "ready" in output and "1.0 MiB used" in output, (code, output)
        code, output = watch(path, lambda pid, terminal: os.write(terminal, b"\x03"))
        assert code == 0, (code, output)
        code, output = watch(path, lambda pid, terminal: os.kill(pid, signal.SIGTERM))
        assert code == 0, (code, output)
        code, output = watch(path, lambda pid, terminal: end_service(service))
        assert code == 1 and "the service has ended" in output, (code, output)

        # A service that was killed leaves its socket, which the next one replaces.
        service = start_service(path)
        service.kill()
        service.wait()
        ended = subprocess.run([TOOL, "top", path], capture_output=True, text=True)
        assert ended.returncode == 1 and "no service is running" in ended.stderr, ended
        service = start_service(path)
        json.loads(subprocess.check_output([TOOL, "top", "--json", path]))
        end_service(service)


main()
