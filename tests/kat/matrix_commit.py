#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commitments to matrices, implemented a second time from the definitions of Poseidon, Poseidon2, Plonky3 and plonky2.

Its permutations must compute the published answers of vectors/poseidon, and its trees those of
vectors/generated/matrix_commit.json, which it has written.

usage: matrix_commit.py VECTORS [--write]
"""
import hashlib
import json
import os
import sys

GOLDILOCKS = 2**64 - 2**32 + 1
BABYBEAR = 2**31 - 2**27 + 1
KOALABEAR = 2**31 - 2**24 + 1


class Grain:
    """The generator of the Poseidon paper."""

    def __init__(self, p, sbox, width, full, partial):
        text = "".join(format(value, f"0{bits}b") for value, bits in (
            (1, 2), (sbox, 4), (p.bit_length(), 12), (width, 12), (full, 10), (partial, 10), (2**30 - 1, 30)))
        self.bits = [int(bit) for bit in text]
        self.p = p
        for _ in range(160):
            self.clock()

    def clock(self):
        bits = self.bits
        new = bits[62] ^ bits[51] ^ bits[38] ^ bits[23] ^ bits[13] ^ bits[0]
        bits.pop(0)
        bits.append(new)
        return new

    def bit(self):
        while not self.clock():
            self.clock()
        return self.clock()

    def element(self):
        while True:
            number = 0
            for _ in range(self.p.bit_length()):
                number = number << 1 | self.bit()
            if number < self.p:
                return number


def chacha8_elements(p, count):
    """rand_chacha's ChaCha8Rng::seed_from_u64(0), sampled uniformly below p."""
    mask, key, state = 2**32 - 1, [], 0
    for _ in range(8):
        state = (state * 6364136223846793005 + 11634580027462260723) % 2**64
        mixed, rotation = ((state >> 18 ^ state) >> 27) & mask, state >> 59
        key.append((mixed >> rotation | mixed << (32 - rotation)) & mask)

    def quarter(s, a, b, c, d):
        for x, y, z, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            s[x] = (s[x] + s[y]) & mask
            s[z] ^= s[x]
            s[z] = (s[z] << bits | s[z] >> (32 - bits)) & mask

    words, elements, counter = [], [], 0
    while len(elements) < count:
        if not words:
            start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574] + key + [counter, 0, 0, 0]
            block, counter = list(start), counter + 1
            for _ in range(4):
                for j in range(4):
                    quarter(block, j, 4 + j, 8 + j, 12 + j)
                for j in range(4):
                    quarter(block, j, 4 + (j + 1) % 4, 8 + (j + 2) % 4, 12 + (j + 3) % 4)
            words = [(x + y) & mask for x, y in zip(block, start)]
        product = (words[0] | words[1] << 32) * p
        words = words[2:]
        if product % 2**64 < p:
            elements.append(product >> 64)
    return elements


class Plonky2:
    """The permutation of plonky2: 12 elements of Goldilocks, x^7, 4 + 22 + 4 rounds."""
    p, width, rate, digest = GOLDILOCKS, 12, 8, 4
    row = [17, 15, 41, 16, 2, 28, 13, 13, 39, 18, 34, 20]

    def __init__(self):
        self.constants = chacha8_elements(self.p, 30 * 12)

    def permute(self, state):
        for i in range(30):
            state = [(x + c) % self.p for x, c in zip(state, self.constants[12 * i:])]
            if 4 <= i < 26:
                state[0] = pow(state[0], 7, self.p)
            else:
                state = [pow(x, 7, self.p) for x in state]
            mixed = [sum(state[(r + c) % 12] * self.row[c] for c in range(12)) for r in range(12)]
            mixed[0] += 8 * state[0]
            state = [x % self.p for x in mixed]
        return state


class Poseidon2:
    """Plonky3's default permutations. `diagonal`: (k, n, sign) stands for sign n / 2^k."""

    def __init__(self, p, width, alpha, partial, rate, digest, diagonal):
        self.p, self.width, self.alpha, self.partial, self.rate, self.digest = p, width, alpha, partial, rate, digest
        self.diagonal = [sign * n * pow(2, -k, p) % p for k, n, sign in diagonal]
        grain = Grain(p, 0, width, 8, partial)
        self.first = [[grain.element() for _ in range(width)] for _ in range(4)]
        self.middle = [grain.element() for _ in range(partial)]
        self.last = [[grain.element() for _ in range(width)] for _ in range(4)]

    def external(self, x):
        m4 = ((2, 3, 1, 1), (1, 2, 3, 1), (1, 1, 2, 3), (3, 1, 1, 2))
        y = [sum(m4[i % 4][j] * x[i - i % 4 + j] for j in range(4)) for i in range(self.width)]
        return [(y[i] + sum(y[i % 4::4])) % self.p for i in range(self.width)]

    def full(self, state, constants):
        for row in constants:
            state = self.external([pow(x + c, self.alpha, self.p) for x, c in zip(state, row)])
        return state

    def permute(self, state):
        state = self.full(self.external(state), self.first)
        for constant in self.middle:
            state = [pow(state[0] + constant, self.alpha, self.p)] + state[1:]
            total = sum(state)
            state = [(total + d * x) % self.p for d, x in zip(self.diagonal, state)]
        return self.full(state, self.last)


def halves(*powers):
    """-2, 1, 2, 1/2, 3, 4, -1/2, -3, -4, then the inverse powers of two, negative ones with a minus sign."""
    start = [(0, 2, -1), (0, 1, 1), (0, 2, 1), (1, 1, 1), (0, 3, 1), (0, 4, 1), (1, 1, -1), (0, 3, -1), (0, 4, -1)]
    return start + [(abs(k), 1, 1 if k > 0 else -1) for k in powers]


PERMUTATIONS = {
    "plonky2-goldilocks-t12": Plonky2,
    "poseidon2-plonky3-goldilocks-t12": lambda: Poseidon2(GOLDILOCKS, 12, 7, 22, 8, 4, halves(2, -2, 3)),
    "poseidon2-plonky3-babybear-t16": lambda: Poseidon2(BABYBEAR, 16, 7, 13, 8, 8, halves(8, 2, 3, 27, -8, -4, -27)),
    "poseidon2-plonky3-babybear-t24": lambda: Poseidon2(BABYBEAR, 24, 7, 21, 16, 8, halves(
        8, 2, 3, 4, 7, 9, 27, -8, -2, -3, -4, -5, -6, -7, -27)),
    "poseidon2-plonky3-koalabear-t16": lambda: Poseidon2(KOALABEAR, 16, 3, 20, 8, 8, halves(
        8, 3, 24, -8, -3, -4, -24)),
    "poseidon2-plonky3-koalabear-t24": lambda: Poseidon2(KOALABEAR, 24, 3, 23, 16, 8, halves(
        8, 2, 3, 4, 5, 6, 24, -8, -3, -4, -5, -6, -7, -9, -24)),
}


class Tree:
    """The levels of a commitment, from that of the tallest matrices' rows to the cap."""

    def __init__(self, compression, rows, matrices, cap_height, keeps_short_rows):
        self.compression, self.rows, self.keeps_short_rows = compression, rows, keeps_short_rows
        heights = [len(matrix) for matrix in matrices]
        self.levels = [self.row_digests(matrices, max(heights))]
        while len(self.levels[-1]) > 2**cap_height:
            below = self.levels[-1]
            level = [self.compress(below[i], below[i + 1]) for i in range(0, len(below), 2)]
            if len(level) in heights:
                level = [self.compress(*pair) for pair in zip(level, self.row_digests(matrices, len(level)))]
            self.levels.append(level)

    def row_digests(self, matrices, height):
        chosen = [matrix for matrix in matrices if len(matrix) == height]
        return [self.hash_row([x for matrix in chosen for x in matrix[i]]) for i in range(height)]

    def hash_row(self, row):
        function = self.rows
        if self.keeps_short_rows and len(row) <= function.digest:
            return row + [0] * (function.digest - len(row))
        state = [0] * function.width
        for i in range(0, len(row), function.rate):
            block = row[i:i + function.rate]
            state = function.permute(block + state[len(block):])
        return state[:function.digest]

    def compress(self, left, right):
        function = self.compression
        return function.permute(left + right + [0] * (function.width - 2 * function.digest))[:function.digest]

    def path(self, index):
        return [level[(index >> i) ^ 1] for i, level in enumerate(self.levels[:-1])]


def elements(p, seed):
    while True:
        seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
        yield seed % p


# set, set of the rows or None, heights and widths of the matrices, height of the cap, keeps short rows
CASES = [
    ("plonky2-goldilocks-t12", None, [(1, 5)], 0, True),
    ("plonky2-goldilocks-t12", None, [(8, 3)], 0, True),
    ("plonky2-goldilocks-t12", None, [(8, 4)], 0, True),
    ("plonky2-goldilocks-t12", None, [(8, 4)], 0, False),
    ("plonky2-goldilocks-t12", None, [(16, 21)], 2, True),
    ("plonky2-goldilocks-t12", None, [(64, 135)], 4, True),
    ("poseidon2-plonky3-goldilocks-t12", None, [(16, 8), (4, 9), (16, 1)], 0, False),
    ("poseidon2-plonky3-babybear-t16", None, [(1, 1)], 0, False),
    ("poseidon2-plonky3-babybear-t16", None, [(2, 8)], 0, False),
    ("poseidon2-plonky3-babybear-t16", None, [(64, 17)], 0, False),
    ("poseidon2-plonky3-babybear-t16", None, [(8, 1), (32, 2), (32, 7), (8, 16), (1, 4)], 0, False),
    ("poseidon2-plonky3-babybear-t16", "poseidon2-plonky3-babybear-t24", [(128, 33), (64, 16), (2, 3)], 1, False),
    ("poseidon2-plonky3-koalabear-t16", None, [(64, 100)], 0, False),
    ("poseidon2-plonky3-koalabear-t16", "poseidon2-plonky3-koalabear-t24", [(32, 5), (16, 40), (32, 12)], 0, False),
]


def solve(number, case, functions):
    name, row_name, sizes, cap_height, keeps_short_rows = case
    function = functions[name]
    stream = elements(function.p, number)
    matrices = [[[next(stream) for _ in range(width)] for _ in range(height)] for height, width in sizes]
    tree = Tree(function, functions[row_name or name], matrices, cap_height, keeps_short_rows)
    height = len(tree.levels[0])
    index = 5 * number % height
    size = (function.p.bit_length() + 7) // 8
    packed = b"".join(x.to_bytes(size, "little") for level in tree.levels for digest in level for x in digest)
    return {"set": name, "row_set": row_name, "seed": number, "matrices": sizes, "cap_height": cap_height,
            "keeps_short_rows": int(keeps_short_rows), "sha256": hashlib.sha256(packed).hexdigest(),
            "cap": [[hex(x) for x in digest] for digest in tree.levels[-1]], "index": index,
            "path": [[hex(x) for x in digest] for digest in tree.path(index)]}


def check_permutations(vectors, functions):
    """How many published answers the permutations compute; exits at the first other result."""
    count = {name: 0 for name in functions}
    for file in ("plonky2", "plonky3"):
        with open(os.path.join(vectors, "poseidon", file + ".json"), encoding="utf-8") as text:
            answers = json.load(text)["permutations"]
        for answer in answers:
            if answer["set"] not in functions:
                continue
            got = functions[answer["set"]].permute([int(x, 16) for x in answer["in"]])
            if got != [int(x, 16) for x in answer["out"]]:
                sys.exit(f"{answer['set']}: the permutation differs from the published answer")
            count[answer["set"]] += 1
    missing = [name for name in count if not count[name]]
    if missing:
        sys.exit(f"no published answer: {missing}")
    return sum(count.values())


def main():
    vectors, path = sys.argv[1], os.path.join(sys.argv[1], "generated", "matrix_commit.json")
    functions = {name: create() for name, create in PERMUTATIONS.items()}
    checked = check_permutations(vectors, functions)
    cases = [solve(number, case, functions) for number, case in enumerate(CASES)]
    note = ("commitments to matrices by tests/kat/matrix_commit.py; element k of all matrices, one matrix after "
            "another, row by row, is x_(k+1) mod p with x_0 = seed, x_(k+1) = 6364136223846793005 x_k + "
            "1442695040888963407 mod 2^64; sha256 of all levels from that of the rows to the cap, canonical "
            "little-endian elements")
    text = json.dumps({"note": note}, ensure_ascii=False)[:-1] + ', "cases": [\n' + ",\n".join(
        json.dumps(case) for case in cases) + "\n]}\n"
    if "--write" in sys.argv[2:]:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    with open(path, encoding="utf-8") as file:
        if file.read() != text:
            sys.exit("matrix_commit.json differs from what this implementation computes")
    print(f"{checked} published permutations, {len(cases)} trees")


if __name__ == "__main__":
    main()
