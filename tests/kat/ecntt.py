#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Transforms of points by their definition, in affine coordinates: a second implementation, without butterflies,
endomorphisms or projective coordinates.

usage: ecntt.py VECTORS_DIRECTORY [--write]

Without --write the file generated/ecntt.txt must be what this program computes. Its lines: curve, inverse (0 or 1),
coset (0 or 1), number of points, and per point of the input and then of the output x and y in hexadecimal digits;
infinity is 0 0. Natural order.
"""
import sys

# p, order, b, generator of the curve, generator of the scalar field's multiplicative group
CURVES = {
    "bn254_g1": (
        21888242871839275222246405745257275088696311157297823662689037894645226208583,
        21888242871839275222246405745257275088548364400416034343698204186575808495617,
        3, (1, 2), 5),
    "bls12_381_g1": (
        0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab,
        0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001,
        4,
        (0x17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb,
         0x08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1),
        7),
}


def add(p, a, b):
    if a is None or b is None:
        return b if a is None else a
    if a[0] == b[0]:
        if (a[1] + b[1]) % p == 0:
            return None
        slope = 3 * a[0] * a[0] * pow(2 * a[1], -1, p)
    else:
        slope = (b[1] - a[1]) * pow(b[0] - a[0], -1, p)
    x = (slope * slope - a[0] - b[0]) % p
    return x, (slope * (a[0] - x) - a[1]) % p


def multiply(p, k, a):
    total = None
    while k:
        if k & 1:
            total = add(p, total, a)
        a = add(p, a, a)
        k >>= 1
    return total


def transform(curve, points, inverse, coset):
    p, order, _, _, g = CURVES[curve]
    n = len(points)
    w = pow(g, (order - 1) // n, order)
    results = []
    for k in range(n):
        total = None
        for j, point in enumerate(points):
            factor = pow(w, -j * k if inverse else j * k, order)
            if coset and not inverse:
                factor = factor * pow(g, j, order) % order
            if inverse:
                factor = factor * pow(n, -1, order) % order
            if coset and inverse:
                factor = factor * pow(g, -k, order) % order
            total = add(p, total, multiply(p, factor, point))
        results.append(total)
    return results


def inputs(curve, n):
    """Different points with infinity, an equal pair and an opposite pair among them."""
    p, _, b, generator, _ = CURVES[curve]
    assert (generator[1] ** 2 - generator[0] ** 3 - b) % p == 0
    points = [multiply(p, 0x9e3779b97f4a7c15 ** (j + 1), generator) for j in range(n)]
    if n >= 4:
        points[1] = None
        points[2] = points[0]
        points[n - 1] = (points[0][0], p - points[0][1])
    return points


def lines():
    for curve in CURVES:
        for n in (1, 2, 4, 8):
            points = inputs(curve, n)
            for way in range(4):
                inverse, coset = way & 1, way >> 1
                results = transform(curve, points, inverse, coset)
                words = ["%x %x" % (point or (0, 0)) for point in points + results]
                yield f"{curve} {inverse} {coset} {n} " + " ".join(words) + "\n"


def main():
    path = sys.argv[1] + "/generated/ecntt.txt"
    text = "".join(lines())
    if "--write" in sys.argv:
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        return 0
    with open(path, encoding="ascii") as file:
        return 0 if file.read() == text else f"{path} is not what {sys.argv[0]} computes"


sys.exit(main())
