#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computes the expected answers of 'devicepool selftest' with Python's integers, and
takes the Poseidon values from tests/vectors/poseidon.

usage: selftest_answers.py SOURCE-ROOT > src/tools/command/selftest_answers.c
"""
import json
import pathlib
import re
import sys

K = 0x9E3779B97F4A7C15F39CC0605CEDC8341082276BF3A27251F86C6A11D0C18E95
L = 0xB7E151628AED2A6ABF7158809CF4F3C762E7160F38B4DA56A784D9045190CFEF
VECTOR, TRANSFORM_LOG, SUM = 256, 10, 64


def read_entries(path, word):
    """The arguments of each WORD(...) of a .def file; adjacent strings are joined as in C."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    text = re.sub(r'"\s*"', "", text)
    text = re.sub(r'COORDINATE\(([^)]*)\)', lambda m: "|" + m[1].replace(",", "|") + "|", text)
    for arguments in re.findall(r"\b%s\((.*?)\)\n" % word, text, flags=re.S):
        yield [part.strip() for part in arguments.split(",")]


def number(text):
    return int(text.strip().strip('"'), 0)


class Field:
    def __init__(self, name, modulus, generator):
        self.name, self.p, self.g = name, modulus, generator
        self.bytes = 4 if modulus < 1 << 32 else (modulus.bit_length() + 63) // 64 * 8

    def multiples(self, factor, count):
        return [(i + 1) * factor % self.p for i in range(count)]

    def weighted_sum(self, values):
        return self.hex(sum((i + 1) * v for i, v in enumerate(values)))

    def hex(self, value):
        return (value % self.p).to_bytes(self.bytes, "little").hex()


def transform(values, root, p):
    if len(values) == 1:
        return values
    even = transform(values[0::2], root * root % p, p)
    odd = transform(values[1::2], root * root % p, p)
    power, low, high = 1, [], []
    for a, b in zip(even, odd):
        low.append((a + power * b) % p)
        high.append((a - power * b) % p)
        power = power * root % p
    return low + high


def reverse(values):
    bits = len(values).bit_length() - 1
    return [values[int(format(i, "0%db" % bits)[::-1], 2)] for i in range(len(values))]


def field_row(f):
    a, b = f.multiples(K, VECTOR), f.multiples(L, VECTOR)
    row = [
        f.weighted_sum([x + y for x, y in zip(a, b)]),
        f.weighted_sum([x - y for x, y in zip(a, b)]),
        f.weighted_sum([x * y for x, y in zip(a, b)]),
        f.weighted_sum([pow(x, -1, f.p) for x in a]),
    ]
    order, adicity = f.p - 1, 0
    while order % 2 == 0:
        order, adicity = order // 2, adicity + 1
    if adicity < TRANSFORM_LOG:
        return row + [None] * 3
    n, x = 1 << TRANSFORM_LOG, f.multiples(K, 1 << TRANSFORM_LOG)
    root = pow(f.g, (f.p - 1) >> TRANSFORM_LOG, f.p)
    shifted = [v * pow(f.g, j, f.p) for j, v in enumerate(x)]
    inverse = [v * pow(n, -1, f.p) for v in transform(x, pow(root, -1, f.p), f.p)]
    return row + [
        f.weighted_sum(transform(x, root, f.p)),
        f.weighted_sum(reverse(transform(shifted, root, f.p))),
        f.weighted_sum(inverse),
    ]


class Extension:
    """c0 + c1 u with u^2 = nonresidue; elements of the prime field have c1 = 0."""

    def __init__(self, p, nonresidue):
        self.p, self.n = p, nonresidue

    def sub(self, a, b):
        return ((a[0] - b[0]) % self.p, (a[1] - b[1]) % self.p)

    def mul(self, a, b):
        return ((a[0] * b[0] + self.n * a[1] * b[1]) % self.p, (a[0] * b[1] + a[1] * b[0]) % self.p)

    def inv(self, a):
        norm = pow(a[0] * a[0] - self.n * a[1] * a[1], -1, self.p)
        return (a[0] * norm % self.p, -a[1] * norm % self.p)

    def add_points(self, p, q):
        """Adds points of a curve with a = 0."""
        if p is None or q is None:
            return p or q
        if p[0] == q[0]:
            if p[1] != q[1]:
                return None
            square = self.mul(p[0], p[0])
            slope = self.mul((3 * square[0], 3 * square[1]), self.inv((2 * p[1][0], 2 * p[1][1])))
        else:
            slope = self.mul(self.sub(q[1], p[1]), self.inv(self.sub(q[0], p[0])))
        x = self.sub(self.sub(self.mul(slope, slope), p[0]), q[0])
        return (x, self.sub(self.mul(slope, self.sub(p[0], x)), p[1]))

    def multiply(self, p, k):
        result = None
        while k:
            if k & 1:
                result = self.add_points(result, p)
            p, k = self.add_points(p, p), k >> 1
        return result


def curve_row(arguments, fields):
    name, base, scalars, nonresidue, a, _, x, y, _ = arguments
    base, order = fields[base], fields[scalars].p
    coordinates = [[number(c) for c in part.strip("|").split("|")] for part in (a, x, y)]
    a, x, y = [(c + [0])[:2] for c in coordinates]
    assert a == [0, 0]
    extension = Extension(base.p, int(nonresidue))
    log = sum((i + 1) * s for i, s in enumerate(fields[scalars].multiples(K, SUM))) % order
    point = extension.multiply((tuple(x), tuple(y)), log)
    degree = 2 if int(nonresidue) else 1
    return name, "".join(base.hex(c) for part in point for c in part[:degree])


def set_rows(root):
    """One known permutation or hash per parameter set, whose inputs are 0, 1, 2 … or ones."""
    fields, rows = {}, {}
    for path in sorted((root / "tests/vectors/poseidon").glob("*.json")):
        data = json.loads(path.read_text())
        for key, given, result in (("permutations", "in", "out"), ("hashes", "in", "digest")):
            for case in data.get(key, []):
                inputs = [int(v, 16) for v in case[given]]
                step = 1 if inputs == list(range(len(inputs))) else 0
                if inputs != ([1] * len(inputs) if not step else inputs):
                    continue
                rows.setdefault(case["set"], (key == "hashes", step, len(inputs), case[result]))
    return rows


def main():
    root = pathlib.Path(sys.argv[1])
    fields = {}
    for name, modulus, generator in read_entries(root / "src/zk/field/params.def", "FIELD"):
        fields[name] = Field(name, number(modulus), number(generator))
    print("/* SPDX-License-Identifier: Apache-2.0 */")
    print("/*\n * Generated by tests/cli/selftest_answers.py, which documents the numbers; a test")
    print(" * compares them. Digits are little-endian bytes.\n */")
    print('#include "selftest.h"\n\n/* clang-format off */')
    print("const struct selftest_field selftest_fields[] = {")
    for f in fields.values():
        row = ['"%s"' % v if v else "NULL" for v in field_row(f)]
        print('    {"%s",\n     {%s}},' % (f.name, ",\n      ".join(row)))
    print("};\nconst size_t selftest_field_count = sizeof(selftest_fields) / "
          "sizeof(selftest_fields[0]);\n")
    print("const struct selftest_msm_answer selftest_msms[] = {")
    for arguments in read_entries(root / "src/zk/curve/params.def", "CURVE"):
        print('    {"%s",\n     "%s"},' % curve_row(arguments, fields))
    print("};\nconst size_t selftest_msm_count = sizeof(selftest_msms) / "
          "sizeof(selftest_msms[0]);\n")
    print("const struct selftest_hash selftest_hashes[] = {")
    for name, (is_hash, step, count, result) in sorted(set_rows(root).items()):
        print('    {"%s", %d, %d, %d,' % (name, is_hash, step, count))
        print('     "%s"},' % ",".join(result))
    print("};\nconst size_t selftest_hash_count = sizeof(selftest_hashes) / "
          "sizeof(selftest_hashes[0]);")


main()
