#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layers of src/: which directory may include headers of which others, and who may name the driver's symbols.

usage: layers.py SOURCE_ROOT
"""
import glob
import os
import re
import sys
import tempfile

# Directory: the directories, or single headers, that it may include, lower layers first. A directory may always
# include its own headers; public headers (<devicepool/...>) are open to all.
OPERATIONS = ["base", "zk/field", "zk/curve", "driver", "pool", "pool/device", "pool/tuning", "pool/stream", "pool/lease", "zk/operation", "pool/memory", "pool/module"]
LAYERS = {
    "base": [],
    "zk/field": ["base"],
    "zk/curve": ["base", "zk/field"],
    "zk/formats": ["base", "zk/field", "zk/curve"],
    "driver": ["base"],
    # The simulator: one header from each directory to the next.
    "driver/sim/exec": ["base"],
    "driver/sim/ptx": ["base", "driver/sim/exec/program.h"],
    "driver/sim/table": ["base", "driver/attributes.h", "driver/sim/exec/executor.h"],
    "pool": ["base", "driver", "driver/sim/table/sim.h", "driver/worker/worker.h", "pool/device", "pool/tuning"],
    "pool/device": ["base", "driver", "driver/sim/table/sim.h", "driver/worker/worker.h", "pool", "pool/tuning"],
    "pool/tuning": ["base", "driver", "driver/sim/table/sim.h", "driver/worker/worker.h", "pool", "pool/device"],
    # Both sides of the table whose functions run in another process.
    "driver/worker": ["base", "driver", "driver/sim/table/sim.h", "driver/worker/client", "driver/worker/server"],
    "driver/worker/client": ["base", "driver", "driver/sim/table/sim.h", "driver/worker", "driver/worker/server"],
    "driver/worker/server": ["base", "driver", "driver/sim/table/sim.h", "driver/worker", "driver/worker/client"],
    "pool/stream": ["base", "driver", "pool", "pool/device", "pool/tuning"],
    "pool/lease": ["base", "driver", "pool", "pool/device", "pool/tuning", "pool/stream"],
    "zk/operation": ["base", "zk/field", "driver", "pool", "pool/device", "pool/tuning", "pool/stream", "pool/lease", "pool/memory"],
    "pool/memory": ["base", "zk/field", "driver", "pool", "pool/device", "pool/tuning", "pool/stream", "pool/lease", "zk/operation"],
    "pool/module": ["base", "driver", "pool", "pool/device", "pool/tuning", "pool/stream", "pool/lease", "pool/memory/resident.h"],
    # One layer: transforms use the kernels of vectors, vectors the domains of transforms.
    "zk/vector": OPERATIONS + ["zk/ntt"],
    "zk/ntt": OPERATIONS + ["zk/vector"],
    "zk/poseidon": OPERATIONS + ["zk/vector"],
    "zk/commit": OPERATIONS + ["zk/ntt", "zk/poseidon", "zk/vector"],
    "zk/fri": OPERATIONS + ["zk/ntt", "zk/vector", "zk/commit"],
    "zk/msm": OPERATIONS,
    "zk/ecntt": OPERATIONS + ["zk/msm", "zk/ntt", "zk/vector"],
    "zk/custom": OPERATIONS + ["zk/poseidon"],
    "zk/resident": ["base", "driver", "pool", "pool/device", "pool/tuning", "pool/stream", "pool/lease", "zk/operation", "pool/memory", "zk/msm/bases.h"],
    "pool/metrics": ["base", "driver", "pool", "pool/device", "pool/tuning", "pool/stream", "pool/lease", "zk/operation", "pool/memory", "pool/module"],
    # Programs of their own that use the public interface only.
    "driver/mock": [],
    "mpi": ["base"],
    "tools/bench": [],
    "tools/command": ["tools/bench", "tools/prove"],
    "tools/prove": ["tools/bench", "tools/command"],
}
# Only driver/ calls or loads symbols of the vendor's libraries. The tables of sim/ and mock/ define functions that
# begin with sim_cu_ and mock_cu_.
# NCCL belongs to transfers between hosts, which have a library of their own.
# The suite of measurements compares with the driver's own calls, without the library between.
OPENS_LIBRARIES = ["mpi/nccl.c", "tools/bench/apart.c", "tools/bench/calls_driver.c"]
VENDOR_CALL = re.compile(r"\b(?:cu|nvrtc)[A-Z]\w*\s*\(|\bdl(?:open|sym|mopen)\s*\(")
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def includes(text):
    return re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M)


def check(root):
    """The violations below root/src, one string each."""
    wrong = []
    for path in sorted(glob.glob(f"{root}/src/**/*.[ch]", recursive=True)):
        name = os.path.relpath(path, f"{root}/src")
        directory = os.path.dirname(name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if directory not in LAYERS:
            wrong.append(f"src/{name}: directory {directory} has no layer in tests/abi/layers.py")
            continue
        for header in includes(text):
            if not os.path.exists(f"{root}/src/{header}"):
                continue  # of the same directory, or a piece of a generated source
            target = os.path.dirname(header)
            if target != directory and target not in LAYERS[directory] and header not in LAYERS[directory]:
                wrong.append(f"src/{name} includes {header}: {directory}/ may include "
                             f"{', '.join(LAYERS[directory]) or 'public headers only'}")
        if directory != "driver" and name not in OPENS_LIBRARIES:
            code = TOKEN.sub(" ", text)
            for call in VENDOR_CALL.finditer(code):
                wrong.append(f"src/{name}: {call.group(0)}: only driver/ uses the vendor's symbols")
    return wrong


def self_test():
    """Each rule finds what breaks it."""
    broken = {
        "base/a.c": '#include "driver/driver.h"\n',
        "driver/sim/exec/b.c": '#include "driver/sim/ptx/lower.h"\n',
        "driver/sim/ptx/c.c": '#include "driver/sim/exec/executor.h"\n',
        "tools/command/d.c": '#include "base/alloc.h"\n',
        "zk/msm/e.c": 'int f(void) { return cuInit(0); } /* cuMemAlloc(x) in a comment is none */\n',
        "other/f.c": "\n",
    }
    fine = {
        "driver/driver.h": "int cuInit(unsigned flags);\n", "driver/sim/ptx/lower.h": "", "base/alloc.h": "",
        "driver/sim/exec/executor.h": "", "zk/msm/g.c": '#include "base/alloc.h"\nconst char *s = "cuMemAlloc(";\n',
    }
    with tempfile.TemporaryDirectory() as root:
        for name, text in {**broken, **fine}.items():
            os.makedirs(os.path.dirname(f"{root}/src/{name}"), exist_ok=True)
            with open(f"{root}/src/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        found = check(root)
    missed = [name for name in broken if not any(line.startswith(f"src/{name}") for line in found)]
    return [f"layers.py does not find what is wrong with {name}" for name in missed] + (
        [f"layers.py finds too much: {found}"] if len(found) != len(broken) else [])


def main():
    wrong = self_test() + check(sys.argv[1])
    print("\n".join(wrong) or f"layers of {len(LAYERS)} directories: no violation")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
