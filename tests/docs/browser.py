# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium over its debugging pipe: pages are opened, scripts evaluated, pictures taken, and what the console,
the network and the page's scripts complain of is kept."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

SECONDS = 30


def find_chromium():
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        if shutil.which(name):
            return shutil.which(name)
    return None


class Failed(Exception):
    """What the browser reports of a command or a script."""


class Browser:
    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory()
        to_child, self.out = os.pipe()
        self.file, from_child = os.pipe()

        def pipes():  # Chromium reads 3 and writes 4
            first, second = os.dup(to_child), os.dup(from_child)
            os.dup2(first, 3)
            os.dup2(second, 4)
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--no-first-run", "--disable-background-networking", "--remote-debugging-pipe",
             f"--user-data-dir={self.profile.name}", "about:blank"],
            preexec_fn=pipes, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.buffer, self.number, self.events = b"", 0, []
        target = self.command("Target.createTarget", {"url": "about:blank"}, None)["targetId"]
        self.session = self.command("Target.attachToTarget", {"targetId": target, "flatten": True}, None)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.command(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.command("Browser.close", {}, None)
        except (Failed, OSError):
            pass
        os.close(self.out)
        os.close(self.file)
        try:
            self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile.name, ignore_errors=True)  # what its processes still write is no error

    def read(self, end):
        """The next message."""
        while b"\0" not in self.buffer:
            if not select.select([self.file], [], [], max(0, end - time.monotonic()))[0]:
                raise Failed(f"the browser does not answer in {SECONDS} s")
            piece = os.read(self.file, 1 << 20)
            if not piece:
                raise Failed("the browser has ended")
            self.buffer += piece
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def command(self, method, parameters=None, session=""):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters or {}}
        if session is not None:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + SECONDS
        while True:
            answer = self.read(end)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failed(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        end = time.monotonic() + SECONDS
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.read(end))

    # what tests use

    def look(self, width, height, is_dark=False):
        self.command("Emulation.setDeviceMetricsOverride",
                     {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
        self.command("Emulation.setEmulatedMedia",
                     {"features": [{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}]})

    def open(self, url):
        """Loads a page; complaints() are those since then."""
        self.events = []
        answer = self.command("Page.navigate", {"url": url})
        if answer.get("errorText"):
            raise Failed(f"{url}: {answer['errorText']}")
        self.wait_for("Page.loadEventFired")

    def evaluate(self, script):
        """The value of a script, which may be a promise."""
        answer = self.command("Runtime.evaluate", {"expression": script, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in answer:
            raise Failed(answer["exceptionDetails"].get("exception", {}).get("description", "a script failed"))
        return answer["result"].get("value")

    def key(self, key, text=""):
        for kind in ("keyDown", "keyUp"):
            self.command("Input.dispatchKeyEvent", {"type": kind, "key": key, "text": text if kind == "keyDown" else ""})

    def complaints(self):
        """Errors and warnings of the console, exceptions, and requests that failed."""
        self.evaluate("0")  # what has happened until now
        found = []
        for event in self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
                found.append("console: " + " ".join(str(one.get("value")) for one in parameters["args"]))
            elif method == "Runtime.exceptionThrown":
                found.append("exception: " + json.dumps(parameters["exceptionDetails"])[:300])
            elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                found.append(f"log: {parameters['entry']['text']} {parameters['entry'].get('url', '')}")
            elif method == "Network.loadingFailed" and not parameters.get("canceled"):
                found.append(f"network: {parameters['errorText']}")
        return found

    def requests(self):
        """The addresses that the page has requested."""
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]

    def picture(self, path, whole=False):
        answer = self.command("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": whole})
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))
