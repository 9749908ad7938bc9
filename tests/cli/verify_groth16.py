#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Verifies a Groth16 proof in snarkjs' JSON, over BN254 or BLS12-381, in plain Python: slow, but available where
no other verifier is installed. Only for proofs of a prover under test, because it does not check that points are in
their subgroups.

usage: verify_groth16.py VERIFICATION_KEY PUBLIC PROOF
"""
import json
import sys


class Pairing:
    """The Tate pairing. Fp12 is Fp[w] / (w^12 - s w^6 + n), and w^6 = c + u with u^2 = -1, so that
    s = 2c and n = c^2 + 1. Its elements are lists of 12 numbers."""

    def __init__(self, p, r, b, c, twist):
        self.p, self.r, self.b, self.c, self.twist = p, r, b, c, twist
        self.s, self.n = 2 * c, c * c + 1

    def multiply(self, x, y):
        z = [0] * 23
        for i, a in enumerate(x):
            if a:
                for k, b in enumerate(y):
                    z[i + k] += a * b
        for i in range(22, 11, -1):
            z[i - 6] += self.s * z[i]
            z[i - 12] -= self.n * z[i]
        return [value % self.p for value in z[:12]]

    def power(self, x, exponent):
        result = [1] + [0] * 11
        for bit in bin(exponent)[2:]:
            result = self.multiply(result, result)
            if bit == "1":
                result = self.multiply(result, x)
        return result

    def add(self, a, b):
        """Adds points of G1; None is infinity. Also returns the slope of the line through them."""
        if a is None or b is None:
            return a or b, None
        if a[0] == b[0] and (a[1] + b[1]) % self.p == 0:
            return None, None
        if a == b:
            slope = 3 * a[0] * a[0] * pow(2 * a[1], -1, self.p)
        else:
            slope = (b[1] - a[1]) * pow(b[0] - a[0], -1, self.p)
        x = (slope * slope - a[0] - b[0]) % self.p
        return (x, (slope * (a[0] - x) - a[1]) % self.p), slope % self.p

    def times(self, point, factor):
        result = None
        for bit in bin(factor)[2:]:
            result = self.add(result, result)[0]
            if bit == "1":
                result = self.add(result, point)[0]
        return result

    def untwist(self, point):
        """Maps a point of G2 to Fp12: (x w^2, y w^3) or, by the other twist, (x / w^2, y / w^3)."""
        def times_power(value, power):
            # c0 + c1 u with u = w^6 - c; 1 / w^k = w^(6 - k) / (c + u) = w^(6 - k) (c - u) / n
            c0, c1 = value
            if self.twist < 0:
                inverse = pow(self.n, -1, self.p)
                c0, c1 = (c0 * self.c + c1) * inverse, (c1 * self.c - c0) * inverse
                power = 6 - power
            result = [0] * 12
            result[power] = (c0 - self.c * c1) % self.p
            result[power + 6] = c1 % self.p
            return result
        return times_power(point[0], 2), times_power(point[1], 3)

    def line(self, point, slope, at):
        """y - y_P - slope (x - x_P). Vertical lines are omitted: the final exponentiation maps them to 1."""
        value = [(y - slope * x) % self.p for x, y in zip(*at)]
        value[0] = (value[0] - point[1] + slope * point[0]) % self.p
        return value

    def miller(self, point, at):
        at = self.untwist(at)
        value, running = [1] + [0] * 11, point
        for bit in bin(self.r)[3:]:
            value = self.multiply(value, value)
            for other in [running] + ([point] if bit == "1" else []):
                twice, slope = self.add(running, other)
                if slope is not None:
                    value = self.multiply(value, self.line(running, slope, at))
                running = twice
        return value

    def product_is_one(self, pairs):
        value = [1] + [0] * 11
        for point, at in pairs:
            value = self.multiply(value, self.miller(point, at))
        return self.power(value, (self.p ** 12 - 1) // self.r) == [1] + [0] * 11

    def is_on_g1(self, point):
        return (point[1] ** 2 - point[0] ** 3 - self.b) % self.p == 0

    def is_on_g2(self, point):
        x, y = self.untwist(point)
        left, right = self.multiply(y, y), self.multiply(self.multiply(x, x), x)
        right[0] = (right[0] + self.b) % self.p
        return left == right


PAIRINGS = {
    "bn128": Pairing(
        0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47,
        0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001, 3, 9, 1),
    "bls12381": Pairing(
        0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab,
        0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001, 4, 1, -1),
}


def verify(key, public, proof):
    pairing = PAIRINGS[key["curve"]]

    def g1(point):
        return int(point[0]), int(point[1])

    def g2(point):
        return [[int(part) for part in coordinate] for coordinate in point[:2]]

    a, b, c = g1(proof["pi_a"]), g2(proof["pi_b"]), g1(proof["pi_c"])
    signals = [int(signal) for signal in public]
    if len(signals) != key["nPublic"] or not all(0 <= signal < pairing.r for signal in signals):
        return False
    if not (pairing.is_on_g1(a) and pairing.is_on_g2(b) and pairing.is_on_g1(c)):
        return False
    total = g1(key["IC"][0])
    for signal, point in zip(signals, key["IC"][1:]):
        total = pairing.add(total, pairing.times(g1(point), signal))[0]
    return pairing.product_is_one([
        ((a[0], -a[1] % pairing.p), b), (g1(key["vk_alpha_1"]), g2(key["vk_beta_2"])),
        (total, g2(key["vk_gamma_2"])), (c, g2(key["vk_delta_2"]))])


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    read = []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            read.append(json.load(file))
    is_right = verify(*read)
    print("the proof is right" if is_right else "the proof is WRONG")
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
