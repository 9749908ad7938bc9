#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Verifies the proofs of docs/examples/stark.c, whose comment defines them, and refuses changed ones.

The arithmetic is that of tests/kat/extension_fields.py, the permutation that of tests/kat/matrix_commit.py, both of
which are compared with published answers or definitions there; nothing here calls the library.

usage: verify.py PROGRAM DEVICES LOG_ROWS     runs the program, verifies its proof and refuses changed ones
       verify.py PROOF                        verifies a proof
"""
import copy
import functools
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kat"))
import extension_fields  # noqa: E402
import matrix_commit  # noqa: E402

FIELD = extension_fields.Extension("babybear_x4")
P = FIELD.p
SET = matrix_commit.PERMUTATIONS["poseidon2-plonky3-babybear-t16"]()
SHIFT = FIELD.generator
LOG_BLOWUP, QUERIES, LOG_ARITY = 2, 40, 3
(STATEMENT, TRACE, ALPHA, QUOTIENT, POINT, EVALUATIONS, GAMMA, LAYER, BETA, CONSTANT, QUERY) = range(11)


class Refused(Exception):
    """Why a proof is refused."""


def require(condition, reason):
    if not condition:
        raise Refused(reason)


@functools.lru_cache(maxsize=None)
def permute(state):
    return tuple(SET.permute(list(state)))


def sponge(elements):
    """Blocks of 8 overwrite the first elements of the state; the digest is its first 8."""
    state = (0,) * 16
    for i in range(0, len(elements), 8):
        block = tuple(elements[i:i + 8])
        state = permute(block + state[len(block):])
    return list(state[:8])


def compress(left, right):
    return list(permute(tuple(left) + tuple(right))[:8])


class Transcript:
    def __init__(self):
        self.state = [0] * 8

    def absorb(self, label, elements=()):
        message = self.state + [label, len(elements)] + list(elements)
        self.state = sponge(message + [0] * (-len(message) % 8))

    def challenge(self, label):
        self.absorb(label)
        return self.state[:4]


def check_elements(value, shape, name):
    """Refuses everything but nested lists of elements in canonical form with these lengths."""
    if not shape:
        require(type(value) is int and 0 <= value < P, f"{name} is no element")
        return
    require(type(value) is list and len(value) == shape[0], f"{name} has another length")
    for item in value:
        check_elements(item, shape[1:], name)


def check_members(value, members, name):
    require(type(value) is dict and sorted(value) == sorted(members), f"{name} has other members")


def check_shape(proof):
    """The sizes of everything, so that what follows needs no checks; returns the arities of the folds."""
    check_members(proof, ["log_rows", "log_blowup", "queries", "first", "result", "values", "constant", "trace",
                          "quotient", "layers"], "the proof")
    log_rows = proof["log_rows"]
    require(type(log_rows) is int and 3 <= log_rows <= 25, "log_rows")
    require((proof["log_blowup"], proof["queries"], proof["first"]) == (LOG_BLOWUP, QUERIES, [1, 1]), "parameters")
    check_elements(proof["result"], [], "the result")
    check_elements(proof["values"], [5, 4], "the values")
    check_elements(proof["constant"], [4], "the constant")
    log_size = log_rows + LOG_BLOWUP
    arities, log_count = [], log_size
    while log_count > LOG_BLOWUP:
        arities.append(min(LOG_ARITY, log_count - LOG_BLOWUP))
        log_count -= arities[-1]
    require(type(proof["layers"]) is list and len(proof["layers"]) == len(arities), "the number of layers")
    expected = [("trace", proof["trace"], 2, log_size), ("quotient", proof["quotient"], 4, log_size)]
    for arity, layer in zip(arities, proof["layers"]):
        log_size -= arity
        expected.append(("a layer", layer, 4 << arity, log_size))
    for name, part, width, height in expected:
        check_members(part, ["root", "openings"], name)
        check_elements(part["root"], [8], name)
        require(type(part["openings"]) is list and len(part["openings"]) == QUERIES, f"{name}: openings")
        for opening in part["openings"]:
            check_members(opening, ["row", "path"], name)
            check_elements(opening["row"], [width], name)
            check_elements(opening["path"], [height, 8], name)
    return arities


def check_path(part, query, index, name):
    opening = part["openings"][query]
    node = sponge(opening["row"])
    for sibling in opening["path"]:
        node = compress(sibling, node) if index & 1 else compress(node, sibling)
        index >>= 1
    require(node == part["root"], f"{name}: a row is not in the tree")
    return opening["row"]


def inverse(a):
    require(a != FIELD.zero, "division by zero")
    return FIELD.inverse(a)


def combine(factor, terms):
    """The sum of factor^i times terms[i]."""
    return FIELD.evaluate(terms, factor)


def check_composition(proof, alpha, z):
    """q(z) follows from the columns' values at z and w z."""
    rows = 1 << proof["log_rows"]
    last = pow(FIELD.root(proof["log_rows"]), rows - 1, P)
    a, b, q, a_next, b_next = proof["values"]
    vanishing = FIELD.sub(FIELD.pow(z, rows), FIELD.one)
    step = FIELD.mul(FIELD.sub(z, FIELD.of(last)), inverse(vanishing))
    at_first = inverse(FIELD.sub(z, FIELD.one))
    at_last = inverse(FIELD.sub(z, FIELD.of(last)))
    terms = [
        FIELD.mul(FIELD.sub(a_next, b), step),
        FIELD.mul(FIELD.sub(b_next, FIELD.add(a, b)), step),
        FIELD.mul(FIELD.sub(a, FIELD.of(proof["first"][0])), at_first),
        FIELD.mul(FIELD.sub(b, FIELD.of(proof["first"][1])), at_first),
        FIELD.mul(FIELD.sub(b, FIELD.of(proof["result"])), at_last)]
    require(combine(alpha, terms) == q, "the quotient's value does not follow from the columns'")


def reverse(index, bits):
    return int(format(index, f"0{bits}b")[::-1], 2) if bits else 0


def fold(values, point, challenge):
    """The value at point^k of sum_j challenge^j f_j, from those of f at a coset of the subgroup of order k in
    bit-reversed order: interpolation at `challenge`, because f(x) = sum_j x^j f_j(x^k), by Lagrange's formula."""
    k = len(values)
    bits = k.bit_length() - 1
    points = [FIELD.of(point * pow(FIELD.root(bits), reverse(i, bits), P)) for i in range(k)]
    total = FIELD.zero
    for i, value in enumerate(values):
        for j, x in enumerate(points):
            if j != i:
                value = FIELD.mul(value, FIELD.mul(FIELD.sub(challenge, x), inverse(FIELD.sub(points[i], x))))
        total = FIELD.add(total, value)
    return total


def check_query(proof, query, position, arities, challenges):
    gamma, z, betas = challenges
    log_size = proof["log_rows"] + LOG_BLOWUP
    a, b = check_path(proof["trace"], query, position, "trace")
    q = check_path(proof["quotient"], query, position, "quotient")
    x = SHIFT * pow(FIELD.root(log_size), reverse(position, log_size), P) % P
    next_z = FIELD.scale(z, FIELD.root(proof["log_rows"]))
    here, there = inverse(FIELD.sub(FIELD.of(x), z)), inverse(FIELD.sub(FIELD.of(x), next_z))
    columns = [FIELD.of(a), FIELD.of(b), q, FIELD.of(a), FIELD.of(b)]
    terms = [FIELD.mul(FIELD.sub(f, value), here if i < 3 else there)
             for i, (f, value) in enumerate(zip(columns, proof["values"]))]
    expected = combine(gamma, terms)
    shift = SHIFT
    for arity, layer, beta in zip(arities, proof["layers"], betas):
        row_index, place = position >> arity, position & ((1 << arity) - 1)
        row = check_path(layer, query, row_index, "a layer")
        values = [row[i:i + 4] for i in range(0, len(row), 4)]
        require(values[place] == expected, "a layer's value is not that of the layer before")
        point = shift * pow(FIELD.root(log_size), reverse(row_index, log_size - arity), P) % P
        expected = fold(values, point, beta)
        position, shift, log_size = row_index, pow(shift, 1 << arity, P), log_size - arity
    require(expected == proof["constant"], "the last layer is another constant")


def verify(proof):
    arities = check_shape(proof)
    transcript = Transcript()
    transcript.absorb(STATEMENT, [proof["log_rows"], LOG_BLOWUP, QUERIES] + proof["first"] + [proof["result"]])
    transcript.absorb(TRACE, proof["trace"]["root"])
    alpha = transcript.challenge(ALPHA)
    transcript.absorb(QUOTIENT, proof["quotient"]["root"])
    z = transcript.challenge(POINT)
    transcript.absorb(EVALUATIONS, [x for value in proof["values"] for x in value])
    gamma = transcript.challenge(GAMMA)
    betas = []
    for layer in proof["layers"]:
        transcript.absorb(LAYER, layer["root"])
        betas.append(transcript.challenge(BETA))
    transcript.absorb(CONSTANT, proof["constant"])
    check_composition(proof, alpha, z)
    for query in range(QUERIES):
        if query % 8 == 0:
            transcript.absorb(QUERY)
        position = transcript.state[query % 8] & ((1 << (proof["log_rows"] + LOG_BLOWUP)) - 1)
        check_query(proof, query, position, arities, (gamma, z, betas))


# ---- changed proofs --------------------------------------------------------------------------------------------------

def leaves(value, path=()):
    """The paths of all numbers."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, path + (key,))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from leaves(item, path + (i,))
    else:
        yield path


def kind_of(path):
    """Numbers that are changed alike: the position in a list counts only where it has a meaning."""
    return tuple(x for i, x in enumerate(path) if isinstance(x, str) or path[i - 1] in ("layers", "values"))


def at(value, path):
    for key in path:
        value = value[key]
    return value


def changed_numbers(proof):
    """One number of each kind changed: the first, the one in the middle and the last of it."""
    kinds = {}
    for path in leaves(proof):
        kinds.setdefault(kind_of(path), []).append(path)
    for paths in kinds.values():
        for path in {paths[0], paths[len(paths) // 2], paths[-1]}:
            changed = copy.deepcopy(proof)
            at(changed, path[:-1])[path[-1]] = (at(proof, path) + 1) % P
            yield "/".join(str(x) for x in path), changed
            if path == paths[0]:
                changed = copy.deepcopy(proof)
                at(changed, path[:-1])[path[-1]] = at(proof, path) + P
                yield "/".join(str(x) for x in path) + " + p", changed


def changed_structures(proof):
    parts = ["trace", "quotient"]
    for part in parts:
        changed = copy.deepcopy(proof)
        opening = changed[part]["openings"]
        opening[0], opening[1] = opening[1], opening[0]
        if changed != proof:
            yield f"{part}: openings exchanged", changed
        changed = copy.deepcopy(proof)
        changed[part]["openings"].pop()
        yield f"{part}: an opening less", changed
        changed = copy.deepcopy(proof)
        changed[part]["openings"][0]["path"].pop()
        yield f"{part}: a shorter path", changed
        changed = copy.deepcopy(proof)
        changed[part]["openings"][3]["row"].append(0)
        yield f"{part}: a longer row", changed
    changed = copy.deepcopy(proof)
    changed["trace"], changed["quotient"] = changed["quotient"], changed["trace"]
    yield "trace and quotient exchanged", changed
    changed = copy.deepcopy(proof)
    changed["layers"].pop()
    yield "a layer less", changed
    changed = copy.deepcopy(proof)
    changed["layers"][0]["root"][0] = True
    yield "a truth value", changed
    changed = copy.deepcopy(proof)
    del changed["constant"]
    yield "no constant", changed
    changed = copy.deepcopy(proof)
    changed["more"] = 1
    yield "an unknown member", changed
    changed = copy.deepcopy(proof)
    changed["constant"] = [0, 0, 0, 0]
    changed["values"] = [[0, 0, 0, 0]] * 5
    yield "zeros", changed


def refuse_changed(proof):
    count = 0
    for changes in (changed_numbers(proof), changed_structures(proof)):
        for name, changed in changes:
            try:
                verify(changed)
            except Refused:
                count += 1
            else:
                sys.exit(f"a changed proof was accepted: {name}")
    return count


def run(program, devices, log_rows):
    with tempfile.TemporaryDirectory() as directory:
        name = os.path.join(directory, "proof.json")
        status = subprocess.run([program, devices, log_rows, name], check=False).returncode
        if status:
            sys.exit(status)
        with open(name, encoding="utf-8") as file:
            return json.load(file)


def main():
    if len(sys.argv) == 2:
        with open(sys.argv[1], encoding="utf-8") as file:
            proof = json.load(file)
        try:
            verify(proof)
        except Refused as reason:
            sys.exit(f"refused: {reason}")
        print("accepted")
        return
    proof = run(*sys.argv[1:])
    a, b = proof["first"]
    for _ in range((1 << proof["log_rows"]) - 1):
        a, b = b, (a + b) % P
    if proof["log_rows"] != int(sys.argv[3]) or proof["result"] != b:
        sys.exit("the statement is another one")
    verify(proof)
    print(f"accepted; {refuse_changed(proof)} changed proofs refused")


if __name__ == "__main__":
    main()
