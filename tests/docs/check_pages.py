#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the documentation to the truth: compiles and runs its blocks, runs its commands, follows its
links, looks up its names. See pages.py for how a block says what it needs.

check_pages.py ROOT code BUILD C-COMPILER C++-COMPILER|none [PAGE...]
check_pages.py ROOT commands BUILD                          [PAGE...]
check_pages.py ROOT names                                   [PAGE...]
check_pages.py ROOT broken BUILD C-COMPILER C++-COMPILER|none
                    each page of tests/docs/broken has to be refused by the check that it is named after
"""
import concurrent.futures
import functools
import glob
import os
import re
import signal
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source directory stays as it is
import pages  # noqa: E402

SECONDS = 300
SKIPPED = 77
MANUAL = "docs/devicepool.1"
INDEX = "docs/README.md"
TIERS = "| tier | header | content |"
PUBLIC_WRAPPERS = {"job.c": "docs/examples/frame.c"}  # which readers use as well
# A public name, but no file's name and no start of names (pool_copy_…).
NAME = r"(?<![\w/])((?:pool|POOL)_\w+)(?![\w*…]|-\d|\.(?:c|h|md|json|svg)\b)"
SOURCE = r"`((?:[a-z_0-9]+/)+[a-z_0-9]+\.(?:cuh|cu|c|h|def))`"
FILE = r"`([a-z_0-9]+\.(?:cuh|cu|c|h|def|py|sh))`"  # a file that the page names without its directory
# Files that are not of this repository, and a name that the cache gives.
FOREIGN = {"cooperative_groups.h", "cuda_fp16.h", "mma.h", "devicepool_trial.cu"}
HISTORY = "docs/CHANGELOG.md"  # names files that are gone
# Commands of which the tests elsewhere are better: installing, and building with what was installed.
ELSEWHERE = {"meson", "ninja", "cc", "c++", "apt-get", "cd", "git", "export"}
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", "-Wno-unused-but-set-variable",
            "-Wno-unused-function", "-Wno-missing-field-initializers"]


def default_pages(root):
    return ["README.md", "tests/README.md"] + sorted(os.path.relpath(page, root)
                                    for page in glob.glob(f"{root}/docs/*.md") + glob.glob(f"{root}/docs/performance/*.md"))


def run(command, **options):
    """(exit code, output); what takes too long ends with all that it has started."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace", stdin=subprocess.DEVNULL, start_new_session=True,
                             **options)
    try:
        output, _ = child.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        return 124, f"not done after {SECONDS} s"
    return child.returncode, output


def environment(build):
    result = dict(os.environ, PATH=f"{build}/src/tools/command:" + os.environ["PATH"],
                  LD_LIBRARY_PATH=f"{build}/src")
    result.setdefault("DEVICEPOOL_DEVICES", "sim:2")
    return result


class Checker:
    def __init__(self, root):
        self.root = root
        self.failures = []
        self.skipped = self.passed = 0

    def read(self, name):
        with open(os.path.join(self.root, name), encoding="utf-8") as file:
            return file.read()

    def note(self, where, code, output, what):
        if code == 0:
            self.passed += 1
        elif code == SKIPPED:
            self.skipped += 1
            print(f"{where}: skipped: {output.strip()}")
        else:
            self.failures.append(f"{where}: {what} (exit code {code})\n{output.rstrip()}")

    def fail(self, text):
        self.failures.append(text)

    # ---- code ----

    def one_program(self, block, number, build, compilers, directory):
        is_c = block.language == "c"
        compiler = compilers[0] if is_c else compilers[1]
        if compiler == "none":
            return block, SKIPPED, "no C++ compiler", ""
        text, is_run = pages.program_text(
            block, lambda name: self.read(PUBLIC_WRAPPERS.get(name, f"tests/docs/wrappers/{name}")))
        source = os.path.join(directory, f"block{number}" + pages.COMPILED[block.language])
        program = os.path.join(directory, f"block{number}")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        code, output = run([compiler, "-std=gnu11" if is_c else "-std=c++17", *WARNINGS,
                            f"-I{self.root}/include", source, "-o", program, f"-L{build}/src",
                            f"-L{build}/src/driver/mock", "-ldevicepool-mock", "-ldevicepool", "-lcmocka",
                            "-lpthread", "-lm"])
        if code:
            return block, code, output, "does not compile"
        if not is_run:
            return block, 0, "", ""
        code, output = run([program], cwd=directory, env=environment(build))
        if code == 0 and block.printed is not None and output.strip() != block.printed.strip():
            return block, 1, f"it prints:\n{output}", "prints something else than the page says"
        return block, code, output, "does not run"

    def code(self, names, build, c_compiler, cpp_compiler):
        work = [block for name in names
                for block in pages.programs(pages.read_blocks(name, self.read(name)))]
        with tempfile.TemporaryDirectory() as directory, \
                concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            for future in [pool.submit(self.one_program, block, number, build,
                                       (c_compiler, cpp_compiler), directory)
                           for number, block in enumerate(work)]:
                self.note(*future.result())

    # ---- commands ----

    def command_line(self, block, line, build, directory):
        words = [word for word in line.split() if not re.match(r"^[A-Z_]+=", word)]
        if words[0] == "devicepool":
            code, output = run(["sh", "-c", self.as_it_runs_here(line)], cwd=directory, env=environment(build))
            self.note(block, code, output, f"'{line}' fails")
        elif words[0] == "sh":
            code, output = run(["sh", "-n", os.path.join(self.root, words[1])])
            self.note(block, code, output, f"'{words[1]}' is no script")
        elif words[0] not in ELSEWHERE and block.language in pages.SHELL:
            self.fail(f"{block}: nothing is known of the command '{words[0]}'")

    @staticmethod
    def has_compiler(environ):
        return not re.search(r"^nvrtc +none", run(["devicepool", "version"], env=environ)[1], re.M)

    def as_it_runs_here(self, line):
        """Measures small sizes, as the devices are simulated, and of the suite two operations (the test cli_suite
        has all of it), draws nothing where there is no gnuplot, and finds the demo's files and libcuda uninstalled. With
        DEVICEPOOL_TEST_SAMPLE the self-test is the quick one."""
        if os.environ.get("DEVICEPOOL_TEST_SAMPLE"):
            line = re.sub(r"devicepool selftest\b", "devicepool selftest --quick", line)
        if "devicepool bench" in line:
            groups = "tree,extend" if self.has_compiler(environment(self.build)) else "extend"
            line = re.sub(r"2\^\d+", "2^6", line).replace("--suite", f"--suite {groups} --scale 3 --repeat 1")
        if "devicepool tune" in line:  # finds the candidates and measures none
            line = re.sub(r" --seconds \d+", "", line).replace(" tune", " tune --seconds 0 --dry-run")
        if not shutil.which("gnuplot"):
            line = re.sub(r" --plot \S+", "", line)
        line = re.sub(r"devicepool sim\b", f"devicepool sim --library {self.build}/src/driver/sim/libcuda", line)
        return re.sub(r"devicepool demo\b", f"devicepool demo --data {self.root}/tests/vectors", line)

    def commands(self, names, build):
        self.build = build
        with tempfile.TemporaryDirectory() as directory:
            for name in os.listdir(self.root):  # so that paths work and nothing is written there
                if not name.startswith(".") and name != "build":
                    os.symlink(os.path.join(self.root, name), os.path.join(directory, name))
            for name in names:
                for block, line in pages.commands(pages.read_blocks(name, self.read(name))):
                    self.command_line(block, line, build, directory)

    # ---- names and links ----

    def sources(self, pattern):
        return "\n".join(self.read(os.path.relpath(path, self.root))
                         for path in glob.glob(f"{self.root}/{pattern}", recursive=True))

    @functools.cache
    def files(self):
        """The names of all files."""
        return {file for place in ("src", "ptx", "include", "tests", "docs")
                for _, _, files in os.walk(os.path.join(self.root, place)) for file in files}

    def names(self, names):
        public = set(re.findall(r"\w+", self.sources("include/**/*.h") + self.sources("src/devicepool.map")))
        # driver.h lists result codes and device attributes without their prefixes.
        public |= {prefix + word for prefix in ("POOL_CU_", "POOL_CU_ATTRIBUTE_") for word in public}
        bindings = "".join(self.sources(f"src/bindings/**/*.{end}") for end in ("py", "rs", "go", "js"))
        variables = set(re.findall(r"DEVICEPOOL_\w+", "".join(
            map(self.sources, ("src/**/*.c", "src/**/*.def", "tests/support/*.h"))) + bindings))
        variables |= set(re.findall(r"^(DEVICEPOOL_\w+) \{", self.sources("src/**/*.map"), re.M))  # versions of symbols
        for name in names:
            text = self.read(name)
            for word in re.findall(NAME, text):
                if word not in public and not word.endswith("_"):
                    self.fail(f"{name}: there is no '{word}' in the public headers")
            for word in re.findall(r"\bDEVICEPOOL_\w+", text):
                if word not in variables:
                    self.fail(f"{name}: no source reads '{word}'")
            for path in re.findall(SOURCE, text):
                if not any(os.path.exists(os.path.join(self.root, place, path))
                           for place in ("", "src", "ptx", "include", os.path.dirname(name))):
                    self.fail(f"{name}: there is no source file '{path}'")
            if name != HISTORY:
                for file in set(re.findall(FILE, text)) - self.files() - FOREIGN:
                    self.fail(f"{name}: there is no file '{file}'")
            self.passed += 1
            self.follow(name, text)
            if name == INDEX:
                self.index(set(pages.links(text)))
                self.manual()
            if TIERS in text:
                self.tiers(name, text)

    def tiers(self, name, text):
        """A header includes only headers of its own tier of the page's table or of those above it."""
        tier, number = {}, 0
        for first, header in re.findall(r"^\|([^|]*)\| \[(\w+\.h)\]\(include/", text, re.MULTILINE):
            number += bool(first.strip())
            tier[header] = number
        for path in glob.glob(f"{self.root}/include/devicepool/*.h"):
            header = os.path.basename(path)
            if header not in tier:
                self.fail(f"{name}: the table of headers lacks {header}")
            for other in re.findall(r"^#include <devicepool/(\w+\.h)>", self.read(os.path.relpath(path, self.root)), re.MULTILINE):
                if tier.get(other, 0) > tier.get(header, number):
                    self.fail(f"{path}: includes {other}, which is of a higher tier in {name}")

    def index(self, listed):
        """Every page and every example is in the index."""
        directory = os.path.join(self.root, os.path.dirname(INDEX))
        for path in glob.glob(f"{directory}/*.md") + glob.glob(f"{directory}/examples/*.c"):
            name = os.path.relpath(path, directory)
            if name not in listed and name != os.path.basename(INDEX):
                self.fail(f"{INDEX}: does not list {name}")

    def manual(self):
        """The man page has every variable that the sources read: whole string literals."""
        manual = self.read(MANUAL)
        for word in sorted(set(re.findall(r'"(DEVICEPOOL_[A-Z_]*[A-Z])"', self.sources("src/**/*.[ch]")))):
            if not re.search(rf"\b{word}\b", manual):
                self.fail(f"{MANUAL}: lacks the environment variable {word}")

    def follow(self, name, text):
        for link in pages.links(text):
            if re.match(r"\w+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            if not os.path.exists(os.path.join(self.root, target)):
                self.fail(f"{name}: there is no '{target}' to link to")
            elif anchor and anchor not in pages.anchors(self.read(target)):
                self.fail(f"{name}: '{target}' has no heading for '#{anchor}'")


OPTIONS = {"code": 3, "commands": 1, "names": 0}


def check(root, what, names, options):
    checker = Checker(root)
    try:
        getattr(checker, what)(names, *options[:OPTIONS[what]])
    except pages.Broken as broken:
        checker.fail(str(broken))
    return checker


def refuse_broken(root, options):
    """0 when all of them are refused."""
    taken = []
    names = sorted(os.path.relpath(page, root) for page in glob.glob(f"{root}/tests/docs/broken/*.md"))
    for name in names:
        what = os.path.basename(name).split("_")[0]
        checker = check(root, what, [name], options)
        if not checker.failures and not checker.skipped:
            taken.append(name)
    print(f"{len(names)} broken pages, {len(taken)} taken", *taken)
    return 1 if taken or not names else 0


def main(arguments):
    root, what, rest = os.path.abspath(arguments[0]), arguments[1], arguments[2:]
    if what == "broken":
        return refuse_broken(root, rest)
    names = rest[OPTIONS[what]:] or default_pages(root)
    checker = check(root, what, names, rest)
    for failure in checker.failures:
        print(failure)
    print(f"{what} of {len(names)} pages: {checker.passed} right, {checker.skipped} skipped, "
          f"{len(checker.failures)} wrong")
    if checker.failures or not checker.passed:
        return 1
    return SKIPPED if checker.skipped else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
