#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the machine code of kernels in two directories that bench_compile --save wrote:
compare_code.py BEFORE AFTER

Kernels are matched by what the programs were generated for and by name, whatever program they are
in. Equal are the instructions and what the launch depends on: section .text.KERNEL, the registers
in its header and the bytes of shared memory.
Exit 1 if a kernel differs or is missing after.
"""
import os
import struct
import sys


def sections(elf):
    start, = struct.unpack_from("<Q", elf, 0x28)
    count, names = struct.unpack_from("<HH", elf, 0x3C)
    heads = [struct.unpack_from("<IIQQQQIIQQ", elf, start + 64 * i) for i in range(count)]
    texts = heads[names][4]
    for name, kind, flags, _, offset, size, link, info, _, _ in heads:
        end = elf.index(b"\0", texts + name)
        data = b"" if kind == 8 else elf[offset:offset + size]
        yield elf[texts + name:end].decode(), info, size, data


def kernels(directory):
    found = {}
    for file in sorted(os.listdir(directory)):
        if not file.endswith(".cubin"):
            continue
        # "msm-accumulate.cu.bn254_g1,512,1.cubin"
        subject = file[file.index(".cu.") + 4:-len(".cubin")]
        with open(os.path.join(directory, file), "rb") as stream:
            elf = stream.read()
        all_of = {name: (info, size, data) for name, info, size, data in sections(elf)}
        for name, (info, size, data) in all_of.items():
            if name.startswith(".text."):
                kernel = name[len(".text."):]
                shared = all_of.get(".nv.shared." + kernel, (0, 0, b""))[1]
                found[kernel, subject] = (data, info >> 24, shared)
    return found


def main():
    before, after = (kernels(directory) for directory in sys.argv[1:3])
    parts = ("instructions", "registers", "shared memory")
    equal, different = 0, 0
    for key in sorted(before):
        # What is generated for a scalar field alone, or for nothing, is the same for every curve.
        other = after.get(key) or after.get((key[0], "all"))
        if other and other == before[key]:
            equal += 1
            continue
        different += 1
        differs = [part for part, a, b in zip(parts, before[key], other) if a != b] if other else ["missing"]
        print("%s of %s: %s" % (*key, ", ".join(differs)))
    print("%d kernels equal, %d different" % (equal, different))
    return different != 0


sys.exit(main())
