#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a binding does with api.json: structs, functions and constants for ctypes are made from it alone, without
a header. Then an MSM over BN254 on a simulated device, whose result is that of the curve's addition law in
Python's integers, and, for 1 * G + 1 * G, that of EIP-196.
usage: api_ctypes.py API.json LIBRARY"""
import ctypes
import json
import random
import sys

POINTER = ctypes.c_void_p
NUMBERS = {(1, True): ctypes.c_int8, (1, False): ctypes.c_uint8, (2, True): ctypes.c_int16, (2, False): ctypes.c_uint16,
           (4, True): ctypes.c_int32, (4, False): ctypes.c_uint32, (8, True): ctypes.c_int64,
           (8, False): ctypes.c_uint64}


class Api:
    def __init__(self, described, path):
        self.described = described
        self.library = ctypes.CDLL(path)
        self.rows = {row["name"]: row for rows in ("types", "enums", "aliases", "structs")
                     for row in described[rows]}
        self.callbacks = {row["name"] for row in described["callbacks"]}
        self.classes = {}
        self.constants = {row["name"]: row["value"] for row in described["constants"]}
        for row in described["enums"]:
            self.constants.update({constant["name"]: constant["value"] for constant in row["constants"]})

    def type(self, text):
        if text.endswith("*") or text.endswith("* const") or text in self.callbacks:
            return ctypes.c_char_p if text == "const char *" else POINTER
        name = text.replace("const ", "")
        if name == "void":
            return None
        row = self.rows[name]
        if "members" in row:
            return self.struct(name)
        if row.get("type") == "void *":
            return POINTER
        if name in ("char", "float", "double"):
            return getattr(ctypes, f"c_{name}")
        if "is_signed" not in row:  # an alias
            return self.type(row["type"])
        return NUMBERS[row["size"], row["is_signed"]]

    def struct(self, name):
        if name in self.classes:
            return self.classes[name]
        row = self.rows[name]
        fields = []
        for member in row["members"]:
            kind = self.type(member["type"])
            for length in reversed(member.get("array", [])):
                kind = kind * length
            fields.append((member["name"], kind))
        base = ctypes.Union if row["kind"] == "union" else ctypes.Structure
        made = type(name, (base,), {"_fields_": fields})
        assert ctypes.sizeof(made) == row["size"], (name, ctypes.sizeof(made), row["size"])
        assert ctypes.alignment(made) == row["alignment"], name
        for member in row["members"]:
            field = getattr(made, member["name"])
            assert (field.offset, field.size) == (member["offset"], member["size"]), (name, member)
        self.classes[name] = made
        return made

    def new(self, name, **members):
        made = self.struct(name)(**members)
        if self.rows[name]["members"][0]["name"] == "struct_size":
            made.struct_size = self.rows[name]["size"]
        return made

    def functions(self, library):
        for row in self.described["functions"]:
            if row["library"] != library:
                continue
            function = getattr(self.library, row["name"])
            function.restype = self.type(row["returns"])
            function.argtypes = [self.type(parameter["type"]) for parameter in row["parameters"]]
            setattr(self, row["name"], function)


P = 21888242871839275222246405745257275088696311157297823662689037894645226208583
ORDER = 21888242871839275222246405745257275088548364400416034343698204186575808495617
TWICE = (0x030644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd3,
         0x15ed738c0e0a7c92e7845f96b2ae9c0a68a6a449e3538fc7ff3ebf7a5a18a2c4)


def add(a, b):
    """y^2 = x^3 + 3 over P; None is infinity."""
    if not a or not b:
        return a or b
    if a[0] == b[0] and (a[1] + b[1]) % P == 0:
        return None
    slope = 3 * a[0] * a[0] * pow(2 * a[1], -1, P) if a == b else (b[1] - a[1]) * pow(b[0] - a[0], -1, P)
    x = (slope * slope - a[0] - b[0]) % P
    return x, (slope * (a[0] - x) - a[1]) % P


def multiply(scalar, point):
    result = None
    for bit in bin(scalar)[2:]:
        result = add(result, result)
        if bit == "1":
            result = add(result, point)
    return result


def little(*numbers):
    return b"".join(number.to_bytes(32, "little") for number in numbers)


def msm(api, curve, scalars, points):
    def span(data, count):
        return api.new("pool_span", data=ctypes.cast(data, POINTER), count=count)

    result = ctypes.create_string_buffer(64)
    params = api.new("pool_msm_params", curve=curve)
    error = api.new("pool_error_slot")
    execution = api.new("pool_exec", checks=api.constants["POOL_CHECK_CANONICAL"] | api.constants["POOL_CHECK_SUBGROUP"],
                        error=ctypes.addressof(error))
    spans = [span(ctypes.create_string_buffer(b"".join(little(*point) for point in points)), len(points)),
             span(ctypes.create_string_buffer(b"".join(little(scalar) for scalar in scalars)), len(scalars)),
             span(result, 1)]
    status = api.pool_msm(*[ctypes.byref(item) for item in [params, execution] + spans])
    return status, error, (int.from_bytes(result.raw[:32], "little"), int.from_bytes(result.raw[32:64], "little"))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        api = Api(json.load(file), sys.argv[2])
    api.functions("devicepool")
    for row in api.described["structs"]:
        api.struct(row["name"])
    assert api.pool_version_text().decode() == api.described["version"]
    ok = api.constants["POOL_OK"]

    def must(status):
        if status != ok:
            sys.exit(f"{api.pool_status_name(status).decode()}: "
                     f"{ctypes.cast(api.pool_last_error(), ctypes.POINTER(api.struct('pool_error'))).contents.message}")

    pool, device = POINTER(), POINTER()
    must(api.pool_create(ctypes.byref(pool), ctypes.byref(api.new("pool_params", devices=b"sim:1"))))
    must(api.pool_device_at(pool, 0, ctypes.byref(device)))
    must(api.pool_bind(device))
    curve = api.pool_curve_by_name(b"bn254_g1")
    generator = (1, 2)
    status, _, result = msm(api, curve, [1, 1], [generator, generator])
    must(status)
    assert result == TWICE == add(generator, generator), result
    random.seed(36)
    points = [multiply(random.randrange(1, ORDER), generator) for _ in range(5)]
    scalars = [random.randrange(ORDER) for _ in points]
    expected = None
    for scalar, point in zip(scalars, points):
        expected = add(expected, multiply(scalar, point))
    status, _, result = msm(api, curve, scalars, points)
    must(status)
    assert result == expected, result
    status, error, _ = msm(api, curve, [ORDER], [generator])
    assert status == error.status == api.constants["POOL_ERR_BAD_DATA"], status
    assert b"not below the order" in error.message, error.message
    must(api.pool_unbind(device))
    must(api.pool_destroy(ctypes.byref(pool)))
    assert not pool.value
    print(f"{len(api.classes)} structs, {len(api.described['functions'])} functions; "
          f"an MSM over {len(points)} points is right; a failure: {error.message.decode()}")


main()
