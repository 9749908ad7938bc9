#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of docs/bindings.md, and those of docs/tutorial.md for C, as a newcomer does: for each language at most
five, from the sources to a checked MSM. The present build is installed in a home directory of its own in the place of
docs/install.sh; with `whole` that runs as well, in a copy of the sources, and installs what is missing, if it may. The
programs that the page shows are the files that it names. A language without its toolchain is named and left out.
usage: first_run.py SOURCE BUILD MESON PREFIX [whole]"""
import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

source, build, meson, prefix = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
text = (source / "docs/bindings.md").read_text(encoding="utf-8")
tutorial = (source / "docs/tutorial.md").read_text(encoding="utf-8")
NEEDS = {"C": "cc", "Python": "python3", "Rust": "cargo", "Go": "go", "Node": "node", "C++": "g++"}
failures = []


def install(directory):
    """The prefix as $HOME/.local; package files name it."""
    log = build / "meson-logs/install-log.txt"
    with open(build / "meson-logs/install-lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests/install/install.sh has its own log
        saved = log.read_bytes() if log.exists() else None
        subprocess.run([meson, "install", "--no-rebuild", "-C", str(build), "--destdir", str(directory / "root")], check=True,
                       stdout=subprocess.DEVNULL)
        if saved is not None:
            log.write_bytes(saved)
    home = directory / "home"
    home.mkdir()
    (home / ".local").symlink_to(f"{directory}/root{prefix}")
    libraries = next((directory / "root").rglob("libdevicepool.so")).parent
    if libraries != pathlib.Path(f"{directory}/root{prefix}/lib"):
        (home / ".local/lib").mkdir(exist_ok=True)
        for item in list(libraries.iterdir()):
            (home / ".local/lib" / item.name).symlink_to(item)
    for file in libraries.glob("pkgconfig/*.pc"):
        file.write_text(re.sub(r"^prefix=.*", f"prefix={home}/.local", file.read_text(), flags=re.M))
        file.write_text(re.sub(r"^libdir=.*", f"libdir={home}/.local/lib", file.read_text(), flags=re.M))
    return home


def copy_sources(directory):
    copy = directory / "devicepool"
    shutil.copytree(source, copy, ignore=lambda where, names: [name for name in names if name == ".git" or (
        name == "build" and pathlib.Path(where) == source)])
    (directory / "home").mkdir()
    return copy, directory / "home"


def commands(section):
    """The lines of a section's first indented block."""
    lines = re.search(r"(?:^    .*\n)+", section, re.M)
    return [line.strip() for line in lines[0].splitlines()]


def is_installation(line):
    return line.startswith("sh docs/install.sh")


def check_program(section, page="docs/bindings.md"):
    for name, block in re.findall(r"<!-- the file (\S+) -->\n```\w*\n(.*?)```", section, re.S):
        file = (source / name).read_text(encoding="utf-8")
        if not file.endswith("\n" + block):
            failures.append(f"{page} does not show {name} as it is")


def main():
    sections = re.split(r"^## ", text, flags=re.M)
    is_whole = sys.argv[5:] == ["whole"]
    with tempfile.TemporaryDirectory() as temporary:
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("PKG_CONFIG_PATH", "LD_LIBRARY_PATH", "PYTHONPATH") and not name.startswith("DEVICEPOOL_")}
        environment.update(PYTHONDONTWRITEBYTECODE="1")
        if is_whole:
            begin, home = copy_sources(pathlib.Path(temporary))
        else:
            begin = home = install(pathlib.Path(temporary))
        environment.update(HOME=str(home))
        # What compilers have compiled is kept, and nothing is fetched.
        for name in ("CARGO_TARGET_DIR", "GOCACHE"):
            environment[name] = str(build / "tests/bindings" / f"first-{name}")
        for name, directory in (("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup"), ("PYENV_ROOT", ".pyenv")):
            environment.setdefault(name, str(pathlib.Path.home() / directory))
        environment.update(CARGO_NET_OFFLINE="true", GOPROXY="off")
        ran = 0
        parts = tutorial.split("\n## ")
        in_c = commands(next(part for part in parts if part.startswith("Install\n")))
        for section in ["C\n" + next(part for part in parts if part.startswith("The program in C\n"))] + sections[1:]:
            language = section.split("\n")[0]
            if language not in NEEDS:
                continue
            check_program(section, "docs/tutorial.md" if language == "C" else "docs/bindings.md")
            lines = (in_c if language == "C" else []) + commands(section)
            if len(lines) > 5 or not is_installation(lines[0]):
                failures.append(f"{language}: {len(lines)} commands, the first one is {lines[0]}")
            if not shutil.which(NEEDS[language]) and not (is_whole and os.geteuid() == 0):
                print(f"{language}: left out, there is no {NEEDS[language]}")
                continue
            count = len(lines)
            if not is_whole:
                lines = [line for line in lines if not is_installation(line)]
            done = subprocess.run(["sh", "-e", "-c", "\n".join(lines)], cwd=begin, env=environment, capture_output=True,
                                  text=True, check=False)
            if "node_api.h is not found" in done.stderr:
                print(f"{language}: left out, there are no headers of Node")
                continue
            if done.returncode or not re.search(r"^refused: .* 1024\nchecked: [0-9a-f]{64}$", done.stdout, re.M):
                failures.append(f"{language}: exit code {done.returncode}\n{(done.stdout + done.stderr)[-4000:]}")
            else:
                print(f"{language}: {count} commands, {done.stdout.strip().splitlines()[-1]}")
            ran += 1
    if not ran:
        failures.append("no language ran")
    print("\n".join(failures))
    return 1 if failures else 0


sys.exit(main())
