#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Extensions of prime fields, folds and evaluations, implemented a second time from their definitions.

An inverse is a solution of a linear system, a fold is computed from coefficients, and columns are evaluated by
Horner's rule; the library computes them in other ways. The answers are those of
vectors/generated/extension_fields.json, which this program has written.

usage: extension_fields.py VECTORS [--write]
"""
import json
import os
import random
import sys

# name: p, degree d, w of x^d - w, generator of the multiplicative group, two-adicity
# plonky2's QuadraticExtension<GoldilocksField>, Plonky3's BinomialExtensionField<_, 4>
FIELDS = {
    "goldilocks_x2": (2**64 - 2**32 + 1, 2, 7, 7, 32),
    "babybear_x4": (2**31 - 2**27 + 1, 4, 11, 31, 27),
    "koalabear_x4": (2**31 - 2**24 + 1, 4, 3, 3, 24),
}


class Extension:
    """F[x] / (x^d - w); elements are lists of d integers, the coefficient of x^0 first."""

    def __init__(self, name):
        self.p, self.d, self.w, self.generator, self.adicity = FIELDS[name]
        self.zero = [0] * self.d
        self.one = [1] + [0] * (self.d - 1)

    def of(self, number):
        return [number % self.p] + [0] * (self.d - 1)

    def add(self, a, b):
        return [(x + y) % self.p for x, y in zip(a, b)]

    def sub(self, a, b):
        return [(x - y) % self.p for x, y in zip(a, b)]

    def scale(self, a, number):
        return [x * number % self.p for x in a]

    def mul(self, a, b):
        r = [0] * self.d
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                r[(i + j) % self.d] += x * y * (self.w if i + j >= self.d else 1)
        return [x % self.p for x in r]

    def pow(self, a, n):
        r = self.one
        while n:
            if n & 1:
                r = self.mul(r, a)
            a = self.mul(a, a)
            n >>= 1
        return r

    def inverse(self, a):
        """Solves a x = 1 by Gaussian elimination on the matrix of the multiplication by a."""
        d, p = self.d, self.p
        columns = [self.mul(a, [int(i == j) for i in range(d)]) for j in range(d)]
        rows = [[columns[j][i] for j in range(d)] + [int(i == 0)] for i in range(d)]
        for i in range(d):
            pivot = next(k for k in range(i, d) if rows[k][i])
            rows[i], rows[pivot] = rows[pivot], rows[i]
            factor = pow(rows[i][i], p - 2, p)
            rows[i] = [x * factor % p for x in rows[i]]
            for k in range(d):
                if k != i:
                    rows[k] = [(x - rows[k][i] * y) % p for x, y in zip(rows[k], rows[i])]
        return [row[d] for row in rows]

    def root(self, log_order):
        return pow(self.generator, (self.p - 1) >> log_order, self.p)

    def evaluate(self, coefficients, point):
        value = self.zero
        for c in reversed(coefficients):
            value = self.add(self.mul(value, point), c)
        return value


def solve(name):
    field, numbers = Extension(name), random.Random(name)

    def element():
        return [numbers.randrange(field.p) for _ in range(field.d)]

    a, b = [element() for _ in range(9)], [element() for _ in range(9)]
    a[7], a[8], b[8] = [field.p - 1] * field.d, field.one[::-1], [field.p - 1] * field.d
    case = {"field": name, "a": a, "b": b, "sum": [field.add(x, y) for x, y in zip(a, b)],
            "difference": [field.sub(x, y) for x, y in zip(a, b)],
            "product": [field.mul(x, y) for x, y in zip(a, b)],
            "scaled": [field.mul(b[0], x) for x in a],
            "inverse": [field.inverse(x) for x in a], "powers": [field.pow(a[1], i) for i in range(9)]}
    case["folds"] = []
    for log_size, log_arity, log_folded, on_subgroup in (
            (3, 1, 0, 0), (4, 2, 0, 1), (4, 3, 0, 0), (3, 3, 0, 0), (3, 1, 2, 0), (4, 2, 1, 0)):
        order, arity = 1 << log_size, 1 << log_arity
        shift = 1 if on_subgroup else pow(field.generator, 1 << log_folded, field.p)
        coefficients, challenge = [element() for _ in range(order)], element()
        folded = [field.zero] * (order // arity)
        for i in range(order // arity):
            for j in range(arity):
                folded[i] = field.add(
                    folded[i], field.mul(field.pow(challenge, j), coefficients[i * arity + j]))
        points = [shift * pow(field.root(log_size), i, field.p) % field.p for i in range(order)]
        case["folds"].append({
            "log_size": log_size, "log_arity": log_arity, "log_folded": log_folded,
            "on_subgroup": on_subgroup, "challenge": challenge,
            "in": [field.evaluate(coefficients, field.of(x)) for x in points],
            "out": [field.evaluate(folded, field.of(pow(x, arity, field.p))) for x in points[:order // arity]]})
    columns = [[numbers.randrange(field.p) for _ in range(8)] for _ in range(3)]
    points = [element() for _ in range(2)]
    domain = [field.generator * pow(field.root(3), i, field.p) % field.p for i in range(8)]
    coefficients = [[field.of(x) for x in column] for column in columns]
    case["columns"] = {
        "coefficients": columns,
        "evaluations": [[field.evaluate(c, field.of(x))[0] for x in domain] for c in coefficients],
        "points": points, "values": [[field.evaluate(c, z) for c in coefficients] for z in points]}
    return case


def as_text(value):
    if isinstance(value, dict):
        return {key: as_text(x) for key, x in value.items()}
    if isinstance(value, list):
        if value and all(isinstance(x, int) for x in value):
            return " ".join(str(x) for x in value)
        return [as_text(x) for x in value]
    return value


def main():
    path = os.path.join(sys.argv[1], "generated", "extension_fields.json")
    note = ("tests/kat/extension_fields.py; elements are their coordinates in decimal; values of folds and columns in "
            "natural order on the coset of the field's generator, or on the subgroup; the generator's 2^log_folded-th "
            "power for the coset of a fold")
    cases = [solve(name) for name in FIELDS]
    for case in cases:
        field = Extension(case["field"])
        for x, y in zip(case["a"], case["inverse"]):
            assert field.mul(x, y) == field.one
        assert field.pow(case["a"][0], field.p ** field.d) == case["a"][0]
        # irreducible: x^(p^k) differs from x for every proper divisor k of d
        x = [0, 1] + [0] * (field.d - 2)
        assert all(field.pow(x, field.p ** k) != x for k in range(1, field.d) if field.d % k == 0)
    text = json.dumps({"note": note, "cases": [as_text(case) for case in cases]}, indent=0) + "\n"
    if "--write" in sys.argv[2:]:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    with open(path, encoding="utf-8") as file:
        if file.read() != text:
            sys.exit("extension_fields.json differs from what this implementation computes")
    print(f"{len(cases)} fields")


if __name__ == "__main__":
    main()
