#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""devicepool top --web: its page and snapshots over HTTP, wrong requests, many and slow clients, a service that ends, and
the end by a signal.

usage: test_top_web.py DEVICEPOOL STATUS_SERVICE WEB    WEB is the directory of the page's files
"""
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

TOOL, SERVICE, WEB = sys.argv[1:]
SECONDS = 30


def start_service(path):
    service = subprocess.Popen([SERVICE, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert service.stdout.readline() == "ready\n"
    return service


class Web:
    """A running devicepool top --web."""

    def __init__(self, path, where="0"):
        self.process = subprocess.Popen([TOOL, "top", "--web", where, path], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        found = re.fullmatch(r"http://(.*):(\d+)/ shows '.*' until Ctrl-C\n", line)
        assert found, line
        self.host, self.port = found[1].strip("[]"), int(found[2])

    def connect(self):
        return socket.create_connection((self.host, self.port), SECONDS)

    def raw(self, request):
        """The status, headers and body that answer these bytes."""
        with self.connect() as connection:
            connection.sendall(request)
            return read_answer(connection)

    def get(self, target, host="127.0.0.1"):
        return self.raw(f"GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())

    def open_files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def end(self, with_signal=signal.SIGINT):
        begin = time.monotonic()
        self.process.send_signal(with_signal)
        code = self.process.wait(SECONDS)
        assert code == 0 and time.monotonic() - begin < 20, (code, time.monotonic() - begin)


def read_answer(connection):
    connection.settimeout(SECONDS)
    data = b""
    while piece := connection.recv(1 << 16):
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines[1:])
    assert int(headers["Content-Length"]) == len(body), (lines, len(body))
    return int(lines[0].split()[1]), headers, body


def check_page(web, service):
    for name, kind in (("/", "text/html"), ("/top.html", "text/html"), ("/top.js", "text/javascript"), ("/top.css", "text/css"),
                       ("/?x=1", "text/html")):
        code, headers, body = web.get(name)
        file = "top.html" if name.startswith("/?") or name == "/" else name[1:]
        assert code == 200 and body == (pathlib.Path(WEB) / file).read_bytes(), name
        assert headers["Content-Type"] == f"{kind}; charset=utf-8", headers
        assert "default-src 'none'" in headers["Content-Security-Policy"] and headers["Cache-Control"] == "no-store"
        assert headers["X-Content-Type-Options"] == "nosniff" and "Access-Control-Allow-Origin" not in headers
    code, headers, body = web.get("/snapshot.json")
    snapshot = json.loads(body)
    assert code == 200 and headers["Content-Type"].startswith("application/json")
    assert snapshot["pid"] == service.pid and snapshot["leases"][0]["label"] == "block 7", snapshot
    printed = json.loads(subprocess.check_output([TOOL, "top", "--json", snapshot["socket"]]))
    assert set(snapshot) == set(printed) | {"socket"}
    assert [family["name"] for family in snapshot["metrics"]] == [family["name"] for family in printed["metrics"]]


def check_refusals(web):
    host = b"Host: 127.0.0.1\r\n"
    for target in ("/../etc/passwd", "/etc/passwd", "//", "/web/top.js", "/%2e%2e/", "/snapshot.json/", "/.", "top.js", "*",
                   "/x" * 1000):
        assert web.get(target)[0] == 404, target
    for method in ("POST", "HEAD", "PUT", "DELETE", "OPTIONS", "get", "TRACE"):
        code, headers, _ = web.raw(f"{method} / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        assert (code, headers["Allow"]) == (405, "GET"), method
    for request, expected in (
            (b"GET / HTTP/1.0\r\n\r\n", 200), (b"GET / HTTP/1.1\r\n\r\n", 400), (b"GET / HTTP/2.0\r\n" + host + b"\r\n", 505),
            (b"GET / HTTP/1.1\r\n" + host + host + b"\r\n", 400), (b"\r\n\r\n", 400), (b"GET /\r\n\r\n", 400),
            (b"GET\r\n\r\n", 400), (b" / HTTP/1.1\r\n" + host + b"\r\n", 400), (b"GET / FTP/1.1\r\n" + host + b"\r\n", 400),
            (b"GET / HTTP/1.1\r\n" + host + b"no colon\r\n\r\n", 400), (b"GET / HTTP/1.1\r\n" + host + b" folded: x\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\n" + host + b": x\r\n\r\n", 400), (b"GET /\0 HTTP/1.1\r\n", 400), (b"\x16\x03\x01\x02\0\x01", 400),
            (b"GET / HTTP/1.1\r\n" + host + b"Content-Length: 5\r\n\r\nhello", 413),
            (b"GET / HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\n", 413),
            (b"GET / HTTP/1.1\r\n" + host + b"A: b\r\n" * 200 + b"\r\n", 400),
            (b"GET / HTTP/1.1\r\n" + host + b"A: " + b"b" * 7000 + b"\r\n\r\n", 200),
            (b"GET / HTTP/1.1\r\n" + host + b"A: " + b"b" * 9000 + b"\r\n\r\n", 431), (b"x" * 60000, 431)):
        assert web.raw(request)[0] == expected, (request[:80], expected)
    # A name of another site that resolves to this host is refused, also on the way to the data.
    for name, expected in (("localhost", 200), ("LOCALHOST:80", 200), ("127.0.0.1:1", 200), ("[::1]:80", 200), ("10.0.0.1", 200),
                           ("evil.example", 403), ("127.0.0.1.evil.example", 403), ("[evil]", 403), ("", 403), ("a" * 300, 403)):
        assert web.get("/snapshot.json", name)[0] == expected, name
    with web.connect() as connection:  # byte by byte
        for byte in b"GET /top.css HTTP/1.1\r\nHost: localhost\r\n\r\n":
            connection.sendall(bytes([byte]))
        assert read_answer(connection)[0] == 200


def check_load(web):
    """Many clients, and clients that send nothing: all places are taken until their time is over."""
    files = web.open_files()
    with concurrent.futures.ThreadPoolExecutor(max_workers=16) as pool:
        codes = [future.result()[0] for future in [pool.submit(web.get, "/snapshot.json") for _ in range(200)]]
    assert codes == [200] * 200, codes
    idle = [web.connect() for _ in range(40)]
    assert web.get("/top.css")[0] == 200
    for connection in idle:
        connection.settimeout(SECONDS)
        assert connection.recv(1) == b""  # its time is over
        connection.close()
    wait_for(lambda: web.open_files() == files)


def wait_for(condition):
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def check_unread(directory):
    """A client that does not read its response delays no other one."""
    path = f"{directory}/large"
    snapshot = json.dumps({"metrics": [], "padding": "x" * (16 << 20)}).encode()
    with socket.socket(socket.AF_UNIX) as source:
        source.bind(path)
        source.listen()

        def answer():
            while True:
                try:
                    client = source.accept()[0]
                    with client:
                        client.sendall(snapshot)
                except OSError:
                    return
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        web = Web(path)
        with web.connect() as slow:
            slow.sendall(b"GET /snapshot.json HTTP/1.0\r\n\r\n")
            slow.recv(100)
            begin = time.monotonic()
            assert all(web.get("/top.js")[0] == 200 for _ in range(5)) and time.monotonic() - begin < 8
            web.end()  # with the unfinished response
        source.shutdown(socket.SHUT_RDWR)
        thread.join(SECONDS)


def expect(code, text, *arguments):
    done = subprocess.run([TOOL, "top", *arguments], capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == code and text in done.stderr, (arguments, done)


def main():
    with tempfile.TemporaryDirectory() as directory:
        path = f"{directory}/socket"
        expect(1, "there is no such socket", "--web", "0", path)
        expect(2, "takes a port", "--web", "x", path)  # before the socket is read
        service = start_service(path)
        for where in ("", "x", "70000", "1:", "localhost", "host:80", "127.0.0.1", "127.0.0.1:", ":80", "[::1:80", "[]:80", "-1", "80x",
                      "1" * 100):
            expect(2, "takes a port", "--web", where, path)
        expect(2, "exclude each other", "--web", "0", "--json", path)
        web = Web(path)
        assert web.host == "127.0.0.1"
        expect(1, "cannot be listened at", "--web", str(web.port), path)
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):  # nothing but the loopback address
            for line in pathlib.Path(table).read_text().split("\n")[1:] if os.path.exists(table) else ():
                fields = line.split()
                if len(fields) > 3 and fields[3] == "0A" and fields[1].endswith(f":{web.port:04X}"):
                    assert fields[1].startswith("0100007F:"), line
        check_page(web, service)
        check_refusals(web)
        check_load(web)

        # A service that ends, and the next one at the same path.
        service.kill()
        service.wait()
        wait_for(lambda: web.get("/snapshot.json")[0] == 503)
        error = json.loads(web.get("/snapshot.json")[2])
        assert error["error"] == "no service is running at this socket" and error["socket"] == path, error
        service = start_service(path)
        wait_for(lambda: web.get("/snapshot.json")[0] == 200)
        assert json.loads(web.get("/snapshot.json")[2])["pid"] == service.pid

        with web.connect(), web.connect() as connection:  # clients are there when it ends
            connection.sendall(b"GET ")
            web.end()
        try:
            web.connect().close()
            raise AssertionError("the port is still open")
        except ConnectionRefusedError:
            pass
        web = Web(path, f"localhost:{web.port}")  # at once at the same port
        web.end(signal.SIGTERM)
        try:
            web = Web(path, "[::1]:0")
        except AssertionError:
            print("no IPv6 here")
        else:
            assert web.host == "::1" and web.get("/", "[::1]")[0] == 200
            web.end(signal.SIGHUP)
        check_unread(directory)
        service.stdin.close()
        assert service.wait(SECONDS) == 0


main()
