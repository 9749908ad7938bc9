#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""devicepool top with a running service: JSON, the view on a terminal, its end by key, signal and end of the service.

usage: test_top.py DEVICEPOOL STATUS_SERVICE
"""
import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time

TOOL, SERVICE = sys.argv[1:]


def start_service(path, *requests):
    service = subprocess.Popen([SERVICE, path, *requests], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
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


def pictures(output):
    """The lines of each picture on the terminal, without colours."""
    for picture in output.split("\033[H")[1:]:
        yield re.sub(r"\033\[[0-9;?]*[a-zA-Z]", "", picture).replace("\r", "").split("\n")


def check_picture(lines, requests):
    """A picture of 24 rows and 80 columns: everything is whole."""
    assert len(lines) <= 24 and all(len(line) <= 80 for line in lines), lines
    text = "\n".join(lines)
    assert "leases 2 held, 1 overdue, %d requests waiting" % requests in text, text
    assert re.search(r"^  block 7 {20}0,1 +6\.0 MiB +1\.0 MiB +\d+\.\d s $", text, re.M), text
    assert re.search(r"^  Übergröße, a label of more 0,1 +0 B +0 B +\d+\.\d s overdue$", text, re.M), text
    assert re.search(r"^  block 8 {20}2 +5\.0 MiB +0 +\d+\.\d s next$", text, re.M), text
    shown = sum(line.startswith("  block 8") for line in lines)
    more = re.search(r"^  and (\d+) more$", text, re.M)
    assert shown + (int(more.group(1)) if more else 0) == requests, text
    assert lines[-1] == "q: quit", lines


def check_lists(snapshot, requests):
    held, waiting = snapshot["leases"], snapshot["requests"]
    assert [lease["label"][:9] for lease in held] == ["block 7", "Übergröße"] and snapshot["leases_omitted"] == 0
    assert held[0]["devices"] == [0, 1] and held[0]["slots"] == 3 and held[0]["bytes"] == 3 << 20, held
    assert held[0]["used_bytes"] == 1 << 20 and held[1]["used_bytes"] == 0, held
    assert [lease["is_overdue"] for lease in held] == [False, True], held
    assert all(0 <= lease["waited_seconds"] <= lease["held_seconds"] + 60 for lease in held), held
    assert held[1]["duration_seconds"] == 1e-9, held
    assert len(waiting) == min(requests, 64) and snapshot["requests_omitted"] == requests - len(waiting)
    for i, request in enumerate(waiting):
        assert request["label"] == "block 8" and request["priority"] == -i and request["device_count"] == 2, request
        assert request["bytes"] == 5 << 20 and request["waited_seconds"] >= 0, request
        assert request["is_head"] == (i == 0), request


def main():
    try:
        os.close(os.openpty()[0])
    except OSError as error:
        print(f"skipped: no terminal can be opened: {error}")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as directory:
        path = f"{directory}/socket"
        service = start_service(path)
        snapshot = json.loads(subprocess.check_output([TOOL, "top", path]))
        assert snapshot["pid"] == service.pid and snapshot["health"]["harmed"] == "none"
        check_lists(snapshot, 2)
        used = next(f for f in snapshot["metrics"] if f["name"] == "devicepool_memory_used_bytes")
        assert {s["labels"]["device"]: s["value"] for s in used["samples"]} == {"0": 0, "1": 1 << 20}

        code, output = watch(path, lambda pid, terminal: os.write(terminal, b"xq"))
        assert code == 0 and "ready" in output and "1.0 MiB of" in output, (code, output)
        for lines in list(pictures(output))[:2]:
            check_picture(lines, 2)
        code, output = watch(path, lambda pid, terminal: os.write(terminal, b"\x03"))
        assert code == 0, (code, output)
        code, output = watch(path, lambda pid, terminal: os.kill(pid, signal.SIGTERM))
        assert code == 0, (code, output)
        # A service that is stopped answers nothing: q ends the view all the same, long before the 10 s of patience.
        def stop_and_quit(pid, terminal):
            service.send_signal(signal.SIGSTOP)
            time.sleep(2)
            os.write(terminal, b"q")
        begin = time.monotonic()
        code, output = watch(path, stop_and_quit)
        service.send_signal(signal.SIGCONT)
        assert code == 0 and time.monotonic() - begin < 9, (code, output)
        code, output = watch(path, lambda pid, terminal: end_service(service))
        assert code == 1 and "the service has ended" in output, (code, output)

        # Names of a source that is no pool: their control characters do not reach the terminal.
        name = "a\x1b]0;x\x07\u009b31mb\x7fü"
        snapshot["metrics"] = [family for family in snapshot["metrics"] if family["name"] != "devicepool_device_info"]
        labels = {"device": "0", "name": name, "pci": name}
        snapshot["metrics"].append({"name": "devicepool_device_info", "samples": [{"labels": labels, "value": 1}]})
        snapshot["leases"][0]["label"] = name
        with socket.socket(socket.AF_UNIX) as source:
            source.bind(path)
            source.listen()

            def answer():
                while True:
                    try:
                        client = source.accept()[0]
                    except OSError:
                        return
                    client.sendall(json.dumps(snapshot, ensure_ascii=False).encode())
                    client.close()
            threading.Thread(target=answer, daemon=True).start()
            code, output = watch(path, lambda pid, terminal: os.write(terminal, b"q"))
            assert code == 0 and "a?]0;x??31mb?ü" in output, output
            assert not re.search("[\x07\x7f-\x9f]", output), output
            printed = subprocess.check_output([TOOL, "top", "--json", path]).decode()
            assert json.loads(printed)["leases"][0]["label"] == name
            assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", printed.replace("\t", "")), printed
            source.shutdown(socket.SHUT_RDWR)
        os.unlink(path)

        # A service that was killed leaves its socket, which the next one replaces.
        service = start_service(path)
        service.kill()
        service.wait()
        ended = subprocess.run([TOOL, "top", path], capture_output=True, text=True)
        assert ended.returncode == 1 and "no service is running" in ended.stderr, ended
        service = start_service(path)
        json.loads(subprocess.check_output([TOOL, "top", "--json", path]))
        end_service(service)

        # More requests than a snapshot lists, and than the terminal has rows.
        service = start_service(path, "90")
        check_lists(json.loads(subprocess.check_output([TOOL, "top", path])), 90)
        code, output = watch(path, lambda pid, terminal: os.write(terminal, b"q"))
        assert code == 0, (code, output)
        check_picture(list(pictures(output))[1], 90)
        end_service(service)


main()
