#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of devicepool top --web in headless Chromium, with a running service: what it shows is what the snapshot says,
on a desktop and on a telephone, light and dark, without a complaint; then names that are HTML, and a service that ends.
Skipped where Chromium is not installed.

usage: top_browser.py DEVICEPOOL STATUS_SERVICE [PICTURES]
"""
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

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "docs"))
import browser  # noqa: E402
import site_browser  # noqa: E402

TOOL, SERVICE = sys.argv[1:3]
PICTURES = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
SECONDS = 30
TEXT = "document.body.innerText"


def start(command, line):
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    found = re.match(line, process.stdout.readline())
    assert found
    return process, found


def wait_for(chromium, script):
    end = time.monotonic() + SECONDS
    while not chromium.evaluate(script):
        assert time.monotonic() < end, (script, chromium.evaluate(TEXT))
        time.sleep(0.1)


def check_texts(chromium, path):
    snapshot = json.loads(subprocess.check_output([TOOL, "top", "--json", path]))
    family = {family["name"]: family["samples"] for family in snapshot["metrics"]}
    text = chromium.evaluate(TEXT)
    assert f"{path}, process {snapshot['pid']}, devices 2 of 2 usable" in text, text
    assert "leases 2 held, 1 overdue, 2 requests waiting" in text, text
    assert chromium.evaluate("document.querySelectorAll('article').length") == 2
    total = next(sample["value"] for sample in family["devicepool_device_memory_total_bytes"] if sample["labels"]["device"] == "1")
    assert chromium.evaluate("[...document.querySelectorAll('[role=meter]')].map(m => Number(m.getAttribute('aria-valuenow')))") == \
        [0, 1 << 20]
    width = chromium.evaluate("Number(document.querySelectorAll('.bar rect')[1].getAttribute('width'))")
    assert abs(width - 100 * (1 << 20) / total) < 1e-9, (width, total)
    reserved = next(sample["value"] for sample in family["devicepool_memory_lease_reserved_bytes"] if sample["labels"]["device"] == "1")
    assert f"1.0 MiB of {total / (1 << 30):.1f} GiB, {reserved / (1 << 20):.1f} MiB reserved" in text, text
    rows = "[...document.querySelectorAll('#%s tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
    leases = chromium.evaluate(rows % "leases")
    assert [row[:4] + row[5:] for row in leases] == [
        ["block 7", "0, 1", "6.0 MiB", "1.0 MiB", ""], [snapshot["leases"][1]["label"], "0, 1", "0 B", "0 B", "overdue"]], leases
    requests = chromium.evaluate(rows % "requests")
    assert [row[:4] + row[5:] for row in requests] == [["block 8", "2", "5.0 MiB", "0", "next"], ["block 8", "2", "5.0 MiB", "-1", ""]], \
        requests


def check_hostile(chromium, directory):
    """Names of the service are text, whatever they hold."""
    name = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"
    path = f"{directory}/hostile"
    labels = {"device": "0", "name": name, "pci": name}
    snapshot = json.dumps({
        "pid": 1, "monotonic_seconds": 1, "health": {"first_cause": name}, "reasons": [{"device": 0, "reason": name}],
        "metrics": [{"name": "devicepool_device_info", "samples": [{"labels": labels, "value": 1}]}],
        "leases": [{"label": name, "devices": [0], "bytes": 1, "used_bytes": 1, "held_seconds": 4000, "is_overdue": True}],
        "leases_omitted": 7, "requests": [], "requests_omitted": 0}).encode()
    with socket.socket(socket.AF_UNIX) as source:
        source.bind(path)
        source.listen()

        def answer():
            while True:
                try:
                    with source.accept()[0] as client:
                        client.sendall(snapshot)
                except OSError:
                    return
        threading.Thread(target=answer, daemon=True).start()
        web, found = start([TOOL, "top", "--web", "0", path], r"(http://\S+)")
        chromium.open(found[1])
        wait_for(chromium, "document.querySelectorAll('article').length == 1")
        text = chromium.evaluate(TEXT)
        assert text.count("<script>document") >= 4 and "1h06m" in text and "and 7 more" in text, text
        assert chromium.evaluate("document.title") == "devicepool top"
        assert not chromium.evaluate("document.querySelectorAll('main img, main script').length")
        web.send_signal(signal.SIGINT)
        assert web.wait(SECONDS) == 0
        source.shutdown(socket.SHUT_RDWR)


def main():
    program = browser.find_chromium()
    if not program:
        print("skipped: Chromium is not installed")
        return 77
    with tempfile.TemporaryDirectory() as directory, browser.Browser(program) as chromium:
        path = f"{directory}/socket"
        service, _ = start([SERVICE, path], "ready")
        web, found = start([TOOL, "top", "--web", "0", path], r"(http://\S+)")
        for look, (width, height, is_dark) in site_browser.LOOKS.items():
            chromium.look(width, height, is_dark)
            chromium.open(found[1])
            wait_for(chromium, "document.querySelectorAll('article').length == 2")
            complaints = chromium.complaints() + chromium.evaluate(site_browser.CHECK)
            assert not complaints, (look, complaints)
            assert all(url.startswith((found[1], "data:")) for url in chromium.requests()), chromium.requests()
            if PICTURES:
                PICTURES.mkdir(parents=True, exist_ok=True)
                chromium.picture(PICTURES / f"top.{look}.png")
        check_texts(chromium, path)
        time.sleep(2.5)  # further snapshots
        check_texts(chromium, path)
        os.kill(service.pid, signal.SIGKILL)
        service.wait(SECONDS)
        wait_for(chromium, "document.getElementById('error').innerText.includes('no service is running')")
        if PICTURES:
            chromium.picture(PICTURES / "top.ended.png")
        service, _ = start([SERVICE, path], "ready")
        wait_for(chromium, "document.getElementById('error').hidden")
        web.send_signal(signal.SIGINT)
        assert web.wait(SECONDS) == 0
        wait_for(chromium, "document.getElementById('error').innerText.includes('does not answer')")
        check_hostile(chromium, directory)
        service.stdin.close()
        assert service.wait(SECONDS) == 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
