#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes rows.txt: what the conformance program of every binding computes, and the answers, which this file computes with
Python's integers, takes from published vectors, or from what the documentation says. It does not use the library.

A line of rows.txt is one of

    data NAME HEX                           bytes that rows name as @NAME
    row NAME OPERATION ARGUMENT... = ANSWER

A program prints `NAME ANSWER` for each row. START:COUNT are the field's elements START, START + 1 ...; bytes are printed in
hexadecimal, and more than 64 of them as fnv: and the 64-bit FNV-1a hash.
usage: rows.py VECTORS-DIRECTORY OUTPUT"""
import functools
import json
import pathlib
import sys

BN254_R = 21888242871839275222246405745257275088548364400416034343698204186575808495617
BN254_Q = 21888242871839275222246405745257275088696311157297823662689037894645226208583
BLS_Q = int("1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab", 16)
BLS_R = int("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001", 16)
GOLDILOCKS = 2**64 - 2**32 + 1
BABYBEAR = 15 * 2**27 + 1
FIELDS = {"bn254_fr": (BN254_R, 32, 5), "goldilocks": (GOLDILOCKS, 8, 7), "babybear": (BABYBEAR, 4, 31)}
BLS_G = (int("17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb", 16),
         int("08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1", 16))

# Writes factor * data[i] to data[i] for i < count.
KERNEL = """.version 7.0
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 data, .param .u32 factor, .param .u32 count)
{
    .reg .pred %p<2>;
    .reg .u32 %r<8>;
    .reg .u64 %d<4>;
    ld.param.u64 %d1, [data];
    ld.param.u32 %r1, [factor];
    ld.param.u32 %r2, [count];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.u32 %r3, %r3, %r4, %r5;
    setp.ge.u32 %p1, %r3, %r2;
    @%p1 bra DONE;
    mul.wide.u32 %d2, %r3, 4;
    add.u64 %d1, %d1, %d2;
    ld.global.u32 %r6, [%d1];
    mul.lo.u32 %r6, %r6, %r1;
    st.global.u32 [%d1], %r6;
DONE:
    ret;
}
"""

data_lines, row_lines = [], []


def shown(content):
    if len(content) <= 64:
        return content.hex()
    value = 0xcbf29ce484222325
    for byte in content:
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return f"fnv:{value:016x}"


def data(name, content):
    data_lines.append(f"data {name} {content.hex()}")
    return f"@{name}"


def row(name, operation, *arguments, answer):
    if isinstance(answer, (bytes, bytearray)):
        answer = shown(answer)
    row_lines.append(f"row {name} {' '.join(str(word) for word in (operation, *arguments))} = {answer}")


def packed(numbers, size):
    return b"".join(number.to_bytes(size, "little") for number in numbers)


# --- curves y^2 = x^3 + b; None is infinity ------------------------------------------------------------


def add(p, q, modulus):
    if not p or not q:
        return p or q
    if p[0] == q[0] and (p[1] + q[1]) % modulus == 0:
        return None
    slope = (3 * p[0] * p[0] * pow(2 * p[1], -1, modulus) if p == q else (q[1] - p[1]) * pow(q[0] - p[0], -1, modulus))
    x = (slope * slope - p[0] - q[0]) % modulus
    return x, (slope * (p[0] - x) - p[1]) % modulus


def multiply(scalar, point, modulus):
    result = None
    for bit in bin(scalar)[2:]:
        result = add(result, result, modulus)
        if bit == "1":
            result = add(result, point, modulus)
    return result


def total(scalars, points, modulus):
    result = None
    for scalar, point in zip(scalars, points):
        result = add(result, multiply(scalar, point, modulus), modulus)
    return result


def affine(points, size):
    return b"".join(packed(point or (0, 0), size) for point in points)


# --- transforms ----------------------------------------------------------------------------------------


def reverse(index, bits):
    return int(f"{index:0{bits}b}"[::-1], 2)


def transform(field, values, inverse=False, coset=False):
    """By the formulas of ntt.h. The root is that of the field's generator, which is the coset's as well."""
    modulus, _, generator = FIELDS[field]
    n = len(values)
    root = pow(generator, (modulus - 1) // n, modulus)
    if inverse:
        result = [sum(value * pow(root, -j * k, modulus) for k, value in enumerate(values)) * pow(n, -1, modulus) % modulus
                  for j in range(n)]
        return [value * pow(generator, -j, modulus) % modulus for j, value in enumerate(result)] if coset else result
    if coset:
        values = [value * pow(generator, j, modulus) % modulus for j, value in enumerate(values)]
    return [sum(value * pow(root, j * k, modulus) for j, value in enumerate(values)) % modulus for k in range(n)]


# --- Poseidon of circom, t = 3: constants by the Grain LFSR of the reference implementation --------------


@functools.lru_cache
def circom_constants():
    bits = [int(bit) for width, value in ((2, 1), (4, 0), (12, 254), (12, 3), (10, 8), (10, 57), (30, 2**30 - 1))
            for bit in f"{value:0{width}b}"]

    def step():
        bits.append(bits[62] ^ bits[51] ^ bits[38] ^ bits[23] ^ bits[13] ^ bits[0])
        del bits[0]
        return bits[-1]

    def bit():
        while True:
            first, second = step(), step()
            if first:
                return second

    for _ in range(160):
        step()

    def number():
        return int("".join(str(bit()) for _ in range(254)), 2)

    constants = []
    while len(constants) < 65 * 3:
        value = number()
        if value < BN254_R:
            constants.append(value)
    points = [number() % BN254_R for _ in range(6)]
    return constants, [[pow(points[i] + points[3 + j], -1, BN254_R) for j in range(3)] for i in range(3)]


def circom_hash(a, b):
    constants, matrix = circom_constants()
    state = [0, a, b]
    for i in range(65):
        state = [(value + constants[3 * i + k]) % BN254_R for k, value in enumerate(state)]
        is_full = i < 4 or i >= 61
        state = [pow(value, 5, BN254_R) if k == 0 or is_full else value for k, value in enumerate(state)]
        state = [sum(matrix[k][j] * value for j, value in enumerate(state)) % BN254_R for k in range(3)]
    return state[0]


# --- rows ----------------------------------------------------------------------------------------------


def pools():
    row("version", "version", answer="0.1.0")
    row("devices", "devices", "sim:3", answer=3)
    row("next", "next", "sim:3", 5, answer="0 1 2 0 1")
    row("best", "best", "sim:3", answer=0)
    row("pick_filter", "pick_filter", "sim:3", 1, answer=1)
    row("pick_score", "pick_score", "sim:3", answer=2)
    row("by_uuid", "by_uuid", "sim:3", 1, answer=1)
    row("total", "total", "sim:3", answer=8 * 2**30)
    row("health", "health", "sim:3", answer="none 3 3")
    row("create_malformed", "create_error", "nonsense", answer="POOL_ERR_INVALID_ARGUMENT call")
    row("bound", "bound", "sim:3", 1, answer=1)
    row("bound_nested", "bound", "sim:3", 0, 1, 0, answer=0)
    row("not_bound", "not_bound", "sim:3", answer="POOL_ERR_NOT_BOUND")


def memory():
    text = bytes(range(1, 33))
    row("copy", "copy", text.hex(), answer=text)
    row("copy_large", "copy", data("bytes", bytes(i * 7 % 256 for i in range(1000))), answer=bytes(i * 7 % 256 for i in range(1000)))
    row("slice", "slice", text.hex(), 8, 8, answer=text[8:16])
    row("fill", "fill", 8, 171, 2, 3, answer=bytes([0, 0, 171, 171, 171, 0, 0, 0]))
    row("copy_beyond", "copy_error", text.hex(), 16, 8, answer="POOL_ERR_INVALID_ARGUMENT")
    row("pinned", "pinned", text.hex(), answer=text)
    row("stream", "stream", answer="idle")


def kernels():
    kernel = data("kernel", KERNEL.encode())
    row("launch", "launch", kernel, "scale", 100, 3, answer=packed([3 * i for i in range(100)], 4))
    row("launch_wraps", "launch", kernel, "scale", 16, 2**31, answer=packed([i * 2**31 % 2**32 for i in range(16)], 4))
    row("launch_argument_missing", "launch_error", kernel, "scale", answer="POOL_ERR_INVALID_ARGUMENT")
    row("kernel_unknown", "kernel_error", kernel, "nothing", answer="POOL_ERR_NOT_FOUND")
    row("image_malformed", "image_error", data("no_image", b".version 7.0\n.target sm_75\nnonsense"), answer="POOL_ERR_BAD_IMAGE")


def fields():
    for name, (modulus, size, generator) in FIELDS.items():
        row(f"field_{name}", "field", name, answer=f"{size} {packed([modulus], size).hex()}")
        root = pow(generator, (modulus - 1) // 2**20, modulus)
        row(f"root_{name}", "root", name, 20, answer=packed([root], size))
    row("field_custom", "field_custom", 2**61 - 1, answer=f"8 {packed([2**61 - 1], 8).hex()}")
    row("field_composite", "field_error", 15, answer="POOL_ERR_INVALID_ARGUMENT")
    row("field_unknown", "field_unknown", "nothing", answer="POOL_ERR_NOT_FOUND")
    row("montgomery", "montgomery", "bn254_fr", "5:2", answer=packed([i * 2**256 % BN254_R for i in (5, 6)], 32))
    a, b = range(5, 105), range(1000, 1100)
    row("vector_add", "vector", "add", "bn254_fr", "5:100", "1000:100", answer=packed([x + y for x, y in zip(a, b)], 32))
    row("vector_sub", "vector", "sub", "bn254_fr", "5:100", "1000:100", answer=packed([(x - y) % BN254_R for x, y in zip(a, b)], 32))
    row("vector_mul", "vector", "mul", "babybear", "5:100", "1000:100", answer=packed([x * y % BABYBEAR for x, y in zip(a, b)], 4))
    row("vector_scale", "vector", "scale", "goldilocks", 77, "1000:100", answer=packed([77 * y for y in b], 8))
    row("vector_inverse", "vector", "inverse", "bn254_fr", "1:20", answer=packed([pow(x, -1, BN254_R) for x in range(1, 21)], 32))
    row("vector_reversed", "vector", "bit_reverse", "goldilocks", "0:16", answer=packed([reverse(i, 4) for i in range(16)], 8))


def transforms():
    values = list(range(3, 19))
    row("ntt", "ntt", "bn254_fr", 4, "forward", 0, "nn", "rows", 1, "3:16", answer=packed(transform("bn254_fr", values), 32))
    row("ntt_inverse", "ntt", "bn254_fr", 4, "inverse", 0, "nn", "rows", 1, "3:16",
        answer=packed(transform("bn254_fr", values, inverse=True), 32))
    row("ntt_coset", "ntt", "bn254_fr", 4, "forward", 1, "nn", "rows", 1, "3:16",
        answer=packed(transform("bn254_fr", values, coset=True), 32))
    row("ntt_coset_inverse", "ntt", "goldilocks", 4, "inverse", 1, "nn", "rows", 1, "3:16",
        answer=packed(transform("goldilocks", values, inverse=True, coset=True), 8))
    result = transform("goldilocks", values)
    row("ntt_reversed", "ntt", "goldilocks", 4, "forward", 0, "nr", "rows", 1, "3:16",
        answer=packed([result[reverse(i, 4)] for i in range(16)], 8))
    batch = list(range(1, 25))
    results = [transform("babybear", batch[8 * t:8 * t + 8]) for t in range(3)]
    row("ntt_rows", "ntt", "babybear", 3, "forward", 0, "nn", "rows", 3, "1:24", answer=packed(sum(results, []), 4))
    results = [transform("babybear", batch[t::3]) for t in range(3)]
    row("ntt_columns", "ntt", "babybear", 3, "forward", 0, "nn", "columns", 3, "1:24",
        answer=packed([results[t][i] for i in range(8) for t in range(3)], 4))
    row("ntt_count", "ntt_error", "bn254_fr", 4, "3:15", answer="POOL_ERR_INVALID_ARGUMENT")
    row("progress", "progress", "bn254_fr", 4, 4, answer="64 64")


def hashes(vectors):
    def published(file, name):
        for item in json.loads((vectors / file).read_text(encoding="utf-8"))["permutations"]:
            if item["set"] == name and any(int(value, 0) for value in item["in"]):
                return [int(value, 0) for value in item["in"]], [int(value, 0) for value in item["out"]]
        sys.exit(f"{file} has no {name}")

    assert circom_hash(1, 2) == 0x115cc0f5e7d690413df64c6b9662e9cf2a3617f2743245519e19607a4417189a  # circomlib
    row("hash", "hash", "circom-bn254-t3", 2, "1:2", answer=packed([circom_hash(1, 2)], 32))
    row("hash_several", "hash", "circom-bn254-t3", 2, "5:6", answer=packed([circom_hash(i, i + 1) for i in (5, 7, 9)], 32))
    # Sets with prebuilt PTX, for hosts without NVRTC.
    for label, file, name, size in (("plonky2", "plonky2.json", "plonky2-goldilocks-t12", 8),
                                    ("plonky3", "plonky3.json", "poseidon2-plonky3-babybear-t16", 4)):
        state, result = published(file, name)
        row(f"permute_{label}", "permute", name, data(f"state_{label}", packed(state, size)), answer=packed(result, size))
    root = circom_hash(circom_hash(1, 2), circom_hash(3, 4))
    row("merkle", "merkle", "circom-bn254-t3", 2, "1:4", answer=packed([root], 32))
    row("hash_unknown", "hash_unknown", "nothing", answer="POOL_ERR_NOT_FOUND")


def curves():
    g = (1, 2)
    points = [multiply(i * i + 7, g, BN254_Q) for i in range(8)]
    scalars = [pow(5, 11 * i + 90, BN254_R) for i in range(8)]
    at_points, at_scalars = data("points", affine(points, 32)), data("scalars", packed(scalars, 32))
    twice = (0x030644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd3,
             0x15ed738c0e0a7c92e7845f96b2ae9c0a68a6a449e3538fc7ff3ebf7a5a18a2c4)  # EIP-196
    generators, ones = data("generators", affine([g, g], 32)), data("ones", packed([1, 1], 32))
    row("msm_twice", "msm", "bn254_g1", generators, ones, 1, 0, answer=affine([twice], 32))
    expected = affine([total(scalars, points, BN254_Q)], 32)
    row("msm", "msm", "bn254_g1", at_points, at_scalars, 1, 0, answer=expected)
    halves = affine([total(scalars[:4], points[:4], BN254_Q), total(scalars[4:], points[4:], BN254_Q)], 32)
    row("msm_batch", "msm", "bn254_g1", at_points, at_scalars, 2, 0, answer=halves)
    four = data("four_points", affine(points[:4], 32))
    shared = affine([total(scalars[:4], points[:4], BN254_Q), total(scalars[4:], points[:4], BN254_Q)], 32)
    row("msm_shared", "msm", "bn254_g1", four, at_scalars, 2, 1, answer=shared)
    row("msm_zero", "msm", "bn254_g1", generators, data("zeros", bytes(64)), 1, 0, answer=bytes(64))
    bls = [multiply(3 * i + 1, BLS_G, BLS_Q) for i in range(4)]
    bls_scalars = [pow(7, 13 * i + 91, BLS_R) for i in range(4)]
    at_bls = data("bls_points", affine(bls, 48))
    row("msm_bls", "msm", "bls12_381_g1", at_bls, data("bls_scalars", packed(bls_scalars, 32)), 1, 0,
        answer=affine([total(bls_scalars, bls, BLS_Q)], 48))
    row("bases", "msm_bases", "bn254_g1", at_points, at_scalars, 0, answer=expected)
    row("bases_precomputed", "msm_bases", "bn254_g1", at_points, at_scalars, "all", answer=expected)
    row("msm_device", "msm_device", "bn254_g1", at_points, at_scalars, answer=expected)
    row("msm_async", "msm_async", "bn254_g1", at_points, at_scalars, answer=expected)
    row("msm_lease", "msm_lease", "bn254_g1", at_points, at_scalars, 2**26, answer=expected)
    row("msm_scalar_too_large", "msm_error", "bn254_g1", generators, data("order", packed([1, BN254_R], 32)), "canonical",
        answer="POOL_ERR_BAD_DATA")
    row("msm_not_on_curve", "msm_error", "bn254_g1", data("no_points", affine([g, (1, 3)], 32)), ones, "on_curve",
        answer="POOL_ERR_BAD_DATA")
    row("cancelled", "cancelled", "bn254_g1", at_points, at_scalars, answer="POOL_ERR_CANCELLED")
    # The flag of zcash's form for the larger y.
    encoded = b"".join((x + 2**383 + (2**381 if y > BLS_Q - y else 0)).to_bytes(48, "big") for x, y in bls)
    row("encode", "encode", "bls12_381_g1", at_bls, answer=encoded)
    row("decode_no_flag", "decode_error", "bls12_381_g1", "00" * 48, answer="POOL_ERR_BAD_DATA")
    row("point_add", "point_add", "bn254_g1", data("p", affine([points[1]], 32)), data("q", affine([points[2]], 32)),
        answer=affine([add(points[1], points[2], BN254_Q)], 32))
    row("point_multiply", "point_multiply", "bn254_g1", "@p", 12345, answer=affine([multiply(12345, points[1], BN254_Q)], 32))


def leases():
    row("lease", "lease", "sim:3", 2**20, 1, answer=f"{2**20} 1")
    row("lease_two_devices", "lease", "sim:3", 2**20, 2, answer=f"{2**20} 2")
    row("lease_used", "lease_used", "sim:3", 2**20, 2**18, answer=2**18)
    row("lease_exceeded", "lease_exceeded", "sim:3", 2**20, 2**21, answer="POOL_ERR_OUT_OF_DEVICE_MEMORY")
    row("lease_slots", "lease_slots", "sim:3", 5, answer="POOL_ERR_INVALID_ARGUMENT")
    row("lease_timeout", "lease_timeout", "sim:3", answer="POOL_ERR_TIMEOUT")
    row("ticket", "ticket", "sim:3", 2**20, answer=2**20)
    row("ticket_cancelled", "ticket_cancelled", "sim:3", answer="POOL_ERR_CANCELLED")


def faults():
    row("out_of_memory", "fault", "cuMemAlloc*=OUT_OF_MEMORY", answer="POOL_ERR_OUT_OF_DEVICE_MEMORY call 2")
    row("worker_killed", "worker", "workers:sim:1", answer="POOL_ERR_DEVICE_LOST device")
    # The simulated driver is unusable from here on.
    row("poisoned", "poisoned", "@kernel", "scale", "cuLaunchKernel*=700", answer="POOL_ERR_PROCESS_POISONED process 700")


def main():
    pools()
    memory()
    kernels()
    fields()
    transforms()
    hashes(pathlib.Path(sys.argv[1], "poseidon"))
    curves()
    leases()
    faults()
    head = "# Written by rows.py, which says what the lines are.\n"
    pathlib.Path(sys.argv[2]).write_text(head + "\n".join(data_lines + row_lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
