#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layers of src/, and who may name the driver's symbols.

The order of the layers is that of the subdir() calls of src/meson.build and of the files it reads, lower layers
first; the sources that a meson.build lists itself stand where it lists them. A directory may include headers, and
use symbols of objects, of those before it only.

usage: layers.py SOURCE_ROOT [NM ARCHIVE...]
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

# What uses less than the directories before it.
ONLY = {
    # The simulator: one header from each directory to the next.
    "driver/sim/exec": ["base"],
    "driver/sim/ptx": ["base", "driver/sim/exec/program.h"],
    "driver/sim/table": ["base", "driver/attributes.h", "driver/calls.def", "driver/partition.h", "driver/sim/exec/executor.h"],
    # The other side of a worker.
    "driver/worker/server": ["base", "driver", "driver/sim/table/sim.h", "driver/worker"],
    # Above base and driver: no device is known.
    "zk/field": ["base"],
    "zk/curve": ["base", "zk/field"],
    "zk/formats": ["base", "zk/field", "zk/curve"],
    # Programs and libraries of their own that use the public interface only; the mock also the rows that describe it.
    "driver/mock": ["driver/calls.h", "driver/calls.def", "driver/partition.h"],
    "mpi": ["base"],
    "tools/bench": [],
    "tools/prove": [],
    "tools/command": ["tools/bench", "tools/prove"],
    "bindings/go": [],
    "bindings/node": [],
}
# The rings, layouts and descriptors of workers are below both sides; the layer's interface is for those above.
# Only driver/ calls or loads symbols of the vendor's libraries. The tables of sim/ and mock/ define functions that
# begin with sim_cu_ and mock_cu_.
# NCCL belongs to transfers between hosts, which have a library of their own.
# The suite of measurements compares with the driver's own calls, without the library between.
OPENS_LIBRARIES = ["mpi/nccl.c", "tools/bench/apart.c", "tools/bench/calls_driver.c"]
VENDOR_CALL = re.compile(r"\b(?:cu|nvrtc)[A-Z]\w*\s*\(|\bdl(?:open|sym|mopen)\s*\(")
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
STEP = re.compile(r"^\s*subdir\('([^']+)'\)|^\w*sources \+?= files\(", re.M)


def read_order(root, directory=""):
    """The directories of src/ with sources, lower layers first."""
    with open(f"{root}/src/{directory}/meson.build", encoding="utf-8") as file:
        text = re.sub(r"#[^\n]*", "", file.read())
    order = []
    for step in STEP.finditer(text):
        if step.group(1):
            order += read_order(root, f"{directory}/{step.group(1)}".strip("/"))
        elif directory not in order:
            order.append(directory)
    return order if directory in order or not directory else order + [directory]


def includes(text):
    return re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M)


def check_sources(root, order):
    """The violations of the text below root/src, one string each."""
    wrong = []
    rank = {directory: i for i, directory in enumerate(order)}
    for path in sorted(glob.glob(f"{root}/src/**/*.[ch]", recursive=True)):
        name = os.path.relpath(path, f"{root}/src")
        directory = os.path.dirname(name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if directory not in rank:
            wrong.append(f"src/{name}: directory {directory} is in no meson.build")
            continue
        for header in includes(text):
            if not os.path.exists(f"{root}/src/{header}"):
                continue  # of the same directory, or a piece of a generated source
            target = os.path.dirname(header)
            if target == directory:
                continue
            only = ONLY.get(directory)
            if only is not None and target not in only and header not in only:
                wrong.append(f"src/{name} includes {header}: {directory}/ may include "
                             f"{', '.join(only) or 'public headers only'}")
            elif rank.get(target, len(order)) > rank[directory]:
                wrong.append(f"src/{name} includes {header}: {target}/ is above {directory}/")
        if not name.startswith("driver/") and name not in OPENS_LIBRARIES:
            code = TOKEN.sub(" ", text)
            for call in VENDOR_CALL.finditer(code):
                wrong.append(f"src/{name}: {call.group(0)}: only driver/ uses the vendor's symbols")
    return wrong


def read_symbols(root, nm, archives):
    """Of each source in the archives the symbols that it defines and those that it uses."""
    object_of = {}
    for path in glob.glob(f"{root}/src/**/*.c", recursive=True):
        name = os.path.relpath(path, f"{root}/src")
        object_of[name.replace("/", "_") + ".o"] = name
    symbols = {}
    for archive in archives:
        member = None
        output = subprocess.run([nm, "-P", archive], check=True, capture_output=True, text=True).stdout
        for line in output.splitlines():
            heading = re.search(r"([^\[\]/]+\.o)\]?:$", line)
            if heading:
                member = object_of.get(heading.group(1))
                continue
            fields = line.split()
            if member and len(fields) > 1 and re.fullmatch("[A-Z]", fields[1]):
                defined, used = symbols.setdefault(member, (set(), set()))
                (used if fields[1] == "U" else defined).add(fields[0])
    return symbols


def check_symbols(symbols, order):
    """Uses of symbols of a layer above."""
    rank = {directory: i for i, directory in enumerate(order)}
    owner = {symbol: name for name, (defined, _) in symbols.items() for symbol in defined}
    wrong = []
    for name, (_, used) in sorted(symbols.items()):
        for symbol in sorted(used):
            target = owner.get(symbol, name)
            if rank[os.path.dirname(target)] > rank[os.path.dirname(name)]:
                wrong.append(f"src/{name} uses {symbol} of src/{target}, which is above it")
    return wrong


# What zk/operation does for all operations.
OF_FRAME = {"device_enter", "device_leave", "device_operation_begin", "devices_check_workspaces", "exec_begin",
            "scratch_spare", "timed_run", "workspace_check", "workspace_check_overlap", "workspace_open"}


def check_frame(symbols):
    """Uses of what the frame of an operation does in the files of operations."""
    return [f"src/{name} uses {symbol}, which belongs to zk/operation"
            for name, (_, used) in sorted(symbols.items())
            if name.startswith("zk/") and os.path.dirname(name) != "zk/operation"
            for symbol in sorted(used & OF_FRAME)]


def self_test():
    """Each rule finds what breaks it."""
    lists = {
        "": "subdir('base')\nsubdir('driver')\nsubdir('zk')\nsubdir('tools')\n",
        "base": "core_sources += files(\n)\n",
        "driver": "core_sources += files(\n)\nsubdir('sim') # subdir('mpi')\n",
        "driver/sim": "subdir('exec')\nsubdir('ptx')\n",
        "driver/sim/exec": "core_sources += files(\n)\n",
        "driver/sim/ptx": "core_sources += files(\n)\n",
        "zk": "subdir('msm')\n",
        "zk/msm": "msm_sources = files(\n)\n",
        "tools": "subdir('command')\n",
        "tools/command": "executable('devicepool', 'main.c')\n",
    }
    broken = {
        "base/a.c": '#include "driver/driver.h"\n',
        "driver/sim/exec/b.c": '#include "driver/sim/ptx/lower.h"\n',
        "driver/sim/ptx/c.c": '#include "driver/sim/exec/executor.h"\n',
        "driver/f.c": '#include "zk/msm/msm.h"\n',
        "tools/command/d.c": '#include "base/alloc.h"\n',
        "zk/msm/e.c": 'int f(void) { return cuInit(0); } /* cuMemAlloc(x) in a comment is none */\n',
        "other/f.c": "\n",
    }
    fine = {
        "driver/driver.h": "int cuInit(unsigned flags);\n", "driver/sim/ptx/lower.h": "", "base/alloc.h": "",
        "driver/sim/exec/executor.h": "", "zk/msm/msm.h": "",
        "zk/msm/g.c": '#include "base/alloc.h"\nconst char *s = "cuMemAlloc(";\n',
    }
    with tempfile.TemporaryDirectory() as root:
        for directory, text in lists.items():
            os.makedirs(f"{root}/src/{directory}", exist_ok=True)
            with open(f"{root}/src/{directory}/meson.build", "w", encoding="utf-8") as file:
                file.write(text)
        for name, text in {**broken, **fine}.items():
            os.makedirs(os.path.dirname(f"{root}/src/{name}"), exist_ok=True)
            with open(f"{root}/src/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        order = read_order(root)
        found = check_sources(root, order)
    failures = []
    if order != ["base", "driver", "driver/sim/exec", "driver/sim/ptx", "driver/sim", "zk/msm", "zk", "tools/command",
                 "tools"]:
        failures.append(f"layers.py reads the order {order}")
    failures += [f"layers.py does not find what is wrong with {name}" for name in broken
                 if not any(line.startswith(f"src/{name}") for line in found)]
    if len(found) != len(broken):
        failures.append(f"layers.py finds too much: {found}")
    up = check_symbols({"base/a.c": ({"low"}, {"high"}), "zk/msm/m.c": ({"high"}, {"low", "malloc"})}, order)
    if up != ["src/base/a.c uses high of src/zk/msm/m.c, which is above it"]:
        failures.append(f"layers.py finds of symbols {up}")
    framed = check_frame({"zk/ntt/ntt.c": (set(), {"device_enter", "free"}), "pool/m.c": (set(), {"device_enter"}),
                          "zk/operation/m.c": (set(), {"timed_run"})})
    if framed != ["src/zk/ntt/ntt.c uses device_enter, which belongs to zk/operation"]:
        failures.append(f"layers.py finds of the frame {framed}")
    return failures


def main():
    root, archives = sys.argv[1], sys.argv[3:]
    order = read_order(root)
    wrong = self_test() + check_sources(root, order)
    if archives:
        symbols = read_symbols(root, sys.argv[2], archives)
        if len(symbols) < 300:
            wrong.append(f"only {len(symbols)} objects were found in the archives")
        wrong += check_symbols(symbols, order) + check_frame(symbols)
    print("\n".join(wrong) or f"layers of {len(order)} directories: no violation")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
