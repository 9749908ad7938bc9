#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the bill of materials of a build, CycloneDX in JSON: what it links, what is opened at run time, what only tests
and examples need, and the data that is installed. The build says which versions of the linked packages it has found.

usage: sbom.py OUTPUT VERSION PACKAGE=VERSION...
"""
import json
import pathlib
import sys
import uuid

LICENSE = "Apache-2.0"

# pkg-config package or Meson's name of what is linked: (name, licence, what for)
LINKED = {
    "threads": ("glibc", "LGPL-2.1-or-later", "C library, with libm, libdl and libpthread"),
    "libcrypto": ("OpenSSL", "Apache-2.0", "random numbers, SHA-256"),
    "libcjson": ("cJSON", "MIT", "JSON"),
    "liblzma": ("XZ Utils", "0BSD", "prebuilt PTX"),
    "libzstd": ("Zstandard", "BSD-3-Clause OR GPL-2.0-only", "compressed fat binaries"),
    "ompi-c": ("Open MPI", "BSD-3-Clause-Open-MPI", "libdevicepool-mpi"),
    "mpich": ("MPICH", "mpich2", "libdevicepool-mpi"),
    "mpi_abi": ("MPI library with the standard ABI", None, "libdevicepool-mpi"),
}
# What every build links; of the others those that this one has found.
ALWAYS = ["threads", "libcrypto", "libcjson", "liblzma", "libzstd"]

# Files that are opened at run time where they are installed: (name, licence, what for, files)
OPENED = [
    ("NVIDIA CUDA driver", "NVIDIA", "devices; without it there are simulated ones", ["libcuda.so.1"]),
    ("NVIDIA NVRTC", "NVIDIA", "compiles kernels; without it the prebuilt ones are used",
     ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so", "libnvrtc-builtins.so"]),
    ("NVIDIA NCCL", "BSD-3-Clause", "exchanges of libdevicepool-mpi between GPUs", ["libnccl.so.2"]),
    ("tool with NVTX", None, "ranges of time; the file that NVTX_INJECTION64_PATH names", []),
]

# Of tests and examples, not of what is installed: package, licence.
ELSEWHERE = {
    "cmocka": ("cmocka", "Apache-2.0"),
    "gmp": ("GMP", "LGPL-3.0-or-later OR GPL-2.0-or-later"),
    "yaml-0.1": ("LibYAML", "MIT"),
    "libmicrohttpd": ("GNU libmicrohttpd", "LGPL-2.1-or-later"),
}

# Data of others that is installed for `devicepool demo`; tests/vectors/SOURCES.md has the rest.
DATA = [
    ("c-kzg-4844 trusted setup and blobs", "Apache-2.0", "kzg/", "https://github.com/ethereum/c-kzg-4844"),
    ("Powers of Tau of the Hermez ceremony, 2^9", None, "iden3/", "https://github.com/iden3/snarkjs"),
]


def licenses(name):
    if name is None:
        return {}
    if name == "NVIDIA":
        return {"licenses": [{"license": {"name": "NVIDIA CUDA Toolkit EULA or driver licence",
                                          "url": "https://docs.nvidia.com/cuda/eula/"}}]}
    return {"licenses": [{"expression": name} if " " in name else {"license": {"id": name}}]}


def component(reference, name, licence, scope, about, version=None, kind="library", properties=()):
    made = {"type": kind, "bom-ref": reference, "name": name}
    if version and version != "unknown":
        made["version"] = version
    made.update({"description": about, "scope": scope, **licenses(licence)})
    if properties:
        made["properties"] = [{"name": f"devicepool:{key}", "value": value} for key, value in properties]
    return made


def main():
    output, version = sys.argv[1:3]
    found = dict(word.split("=", 1) for word in sys.argv[3:])
    unknown = [name for name in found if name not in LINKED]
    if unknown:
        sys.exit(f"docs/packaging/sbom.py has no row for {' and '.join(unknown)}")
    components = []
    for name, (title, licence, about) in LINKED.items():
        if name in found or name in ALWAYS:
            components.append(component(name, title, licence, "required", about, found.get(name),
                                        properties=[("dependency", name)]))
    for title, licence, about, files in OPENED:
        components.append(component(f"opened:{title}", title, licence, "optional", about,
                                    properties=[("opened-at-run-time", name) for name in files] or
                                    [("opened-at-run-time", "NVTX_INJECTION64_PATH")]))
    for name, (title, licence) in ELSEWHERE.items():
        components.append(component(name, title, licence, "excluded", "tests and examples only",
                                    properties=[("dependency", name)]))
    for title, licence, directory, url in DATA:
        made = component(f"data:{directory}", title, licence, "optional", "data of devicepool demo", kind="data")
        made["externalReferences"] = [{"type": "vcs", "url": url}]
        components.append(made)
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "library", "bom-ref": "devicepool", "name": "devicepool", "version": version,
                                   "description": "zero-knowledge cryptography on a pool of CUDA devices",
                                   **licenses(LICENSE)}},
        "components": components,
        "dependencies": [{"ref": "devicepool", "dependsOn": [entry["bom-ref"] for entry in components
                                                             if entry["scope"] != "excluded"]}],
    }
    # Of the content, so that equal builds have equal numbers.
    document["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(document, sort_keys=True))}"
    pathlib.Path(output).write_text(json.dumps(document, indent=2) + "\n")


main()
