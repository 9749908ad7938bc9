#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every member of the JSON that the command prints: exactly those that are listed here, of their type and with
plausible values. Runs on simulated devices.

usage: test_json.py DEVICEPOOL VECTORS-DIRECTORY
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

TOOL, VECTORS = sys.argv[1:]
IDEN3 = os.path.join(VECTORS, "iden3")
PTAU = os.path.join(IDEN3, "powersOfTau28_hez_final_08.ptau")
KEY = os.path.join(IDEN3, "poseidon_bn254.zkey")
WITNESS = os.path.join(IDEN3, "poseidon_bn254.wtns")
UUID = re.compile(r"GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
LABEL = re.compile(r"[01] Simulated device \(cc 9\.0\)")
FIELD_DIGITS = re.compile(r"0x[0-9a-f]{64}")


def run(*arguments, code=0):
    result = subprocess.run([TOOL, *arguments, "--json"], capture_output=True, text=True, check=False)
    if result.returncode != code:
        sys.exit(f"FAILED: {arguments} exits with {result.returncode}, not {code}: {result.stderr}")
    return json.loads(result.stdout)


def count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def positive(value):
    return count(value) and value > 0


def seconds(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


def string(value):
    return isinstance(value, str)


def matches(expression):
    return lambda value: string(value) and expression.fullmatch(value) is not None


def one_of(*values):
    return lambda value: any(value == known and type(value) is type(known) for known in values)


def boolean(value):
    return isinstance(value, bool)


def list_of(item):
    return lambda value: isinstance(value, list) and all(item(element) for element in value)


def check(what, members, value, optional=None):
    """Fails unless the value is an object with the members, each accepted by its function, and no others."""
    assert isinstance(value, dict), f"{what}: not an object: {value}"
    unknown = set(value) - set(members) - set(optional or {})
    missing = set(members) - set(value)
    assert not unknown and not missing, f"{what}: unknown members {unknown}, missing members {missing}"
    for name, accepts in {**members, **(optional or {})}.items():
        assert name not in value or accepts(value[name]), f"{what}: {name} is {value[name]!r}"


def test_list():
    fields = run("list", "fields")
    for field in fields:
        check("field", {"name": string, "bits": positive, "bytes": positive, "two_adicity": positive}, field)
    assert {"name": "bls12_381_fr", "bits": 255, "bytes": 32, "two_adicity": 32} in fields, fields
    names = [field["name"] for field in fields]
    curves = run("list", "curves")
    for curve in curves:
        check("curve", {"name": string, "base_field": one_of(*names), "degree": one_of(1, 2),
                        "scalar_field": one_of(*names), "affine_bytes": positive}, curve)
    assert {"name": "bn254_g2", "base_field": "bn254_fq", "degree": 2, "scalar_field": "bn254_fr",
            "affine_bytes": 128} in curves, curves
    sets = run("list", "sets")
    for parameter_set in sets:
        check("set", {"name": string, "field": one_of(*names), "width": positive, "inputs": positive,
                      "digest": positive}, parameter_set)
    assert {"name": "circom-bn254-t3", "field": "bn254_fr", "width": 3, "inputs": 2, "digest": 1} in sets, sets


# Properties beyond kind, version, bytes and sections, and the names of the sections.
FILES = {
    PTAU: ({"kind": "ptau", "version": 1, "scalars": "bn254_fr", "g1": "bn254_g1", "g2": "bn254_g2", "power": 8,
            "ceremony_power": 28},
           "tauG1 tauG2 alphaTauG1 betaTauG1 betaG2 lagrange lagrangeG2 lagrangeAlpha lagrangeBeta"),
    KEY: ({"kind": "zkey", "version": 1, "scalars": "bn254_fr", "g1": "bn254_g1", "g2": "bn254_g2",
           "domain_size": 256, "variables": 215, "public_signals": 1},
          "alpha1 beta1 beta2 gamma2 delta1 delta2 IC A B1 B2 C H coefficients"),
    WITNESS: ({"kind": "wtns", "version": 2, "scalars": "bn254_fr", "variables": 215}, "values"),
    os.path.join(IDEN3, "poseidon_bn254.r1cs"): (
        {"kind": "r1cs", "version": 1, "scalars": "bn254_fr", "variables": 215, "public_signals": 1, "outputs": 1,
         "private_inputs": 1, "labels": 583, "constraints": 213}, ""),
    os.path.join(VECTORS, "kzg/trusted_setup.txt"): (
        {"kind": "kzg", "version": 0, "scalars": "bls12_381_fr", "g1": "bls12_381_g1", "g2": "bls12_381_g2"},
        "lagrange monomial g2"),
}


def test_info():
    for path, (properties, names) in FILES.items():
        report = run("info", path)
        sections = report["sections"]
        expected = {name: one_of(value) for name, value in properties.items()}
        check(path, {**expected, "bytes": one_of(os.path.getsize(path)), "sections": list_of(lambda _: True)}, report)
        assert [section["name"] for section in sections] == names.split(), sections
        for section in sections:
            check(path, {"name": string, "items": one_of("points", "elements", "coefficients"),
                         "of": one_of(properties["scalars"], properties.get("g1"), properties.get("g2")),
                         "count": positive, "form": one_of("standard", "montgomery"), "stride": positive},
                  section, {"offset": positive, "levels": positive})
            end = section.get("offset", 0) + section["count"] * section["stride"]
            assert properties["kind"] == "kzg" or end <= report["bytes"], section
            assert ("offset" in section) == (properties["kind"] != "kzg"), section
            assert ("levels" in section) == section["name"].startswith("lagrange") * (properties["kind"] == "ptau")


def test_custom_gates(scratch):
    """The two sections of circom's custom gates, and one of a type that no r1cs file has."""
    with open(os.path.join(IDEN3, "poseidon_bn254.r1cs"), "rb") as file:
        plain = file.read()
    gates = struct.pack("<I", 1) + b"Power\0" + struct.pack("<I", 1) + (5).to_bytes(32, "little")
    uses = struct.pack("<I", 2) + struct.pack("<IIQQ", 0, 2, 1, 2) + struct.pack("<IIQ", 0, 1, 3)
    added = b"".join(struct.pack("<IQ", kind, len(content)) + content
                     for kind, content in ((4, gates), (5, uses), (6, b"?")))
    sections = struct.unpack_from("<I", plain, 8)[0]
    path = os.path.join(scratch, "gates.r1cs")
    with open(path, "wb") as file:
        file.write(plain[:8] + struct.pack("<I", sections + 3) + plain[12:] + added)
    report = run("info", path)
    assert (report["constraints"], report["custom_gates"], report["custom_gate_uses"],
            report["unknown_sections"]) == (213, 1, 2, 1), report


DEVICE = {
    "index": one_of(0, 1), "ordinal": one_of(0, 1), "uuid": matches(UUID),
    "pci": matches(re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.0")), "name": one_of("Simulated device (cc 9.0)"),
    "state": one_of("ready"), "reason": one_of(""), "compute_major": one_of(9), "compute_minor": one_of(0),
    "multiprocessors": positive, "clock_khz": positive, "memory_clock_khz": positive, "memory_bus_bits": positive,
    "l2_bytes": positive, "total_bytes": one_of(1 << 32), "free_bytes": count, "has_context": boolean, "ecc": boolean,
    "mps": boolean, "mig": boolean, "numa_node": one_of(-1), "integrated": boolean, "compute_mode": one_of(0),
    "warp_size": one_of(32), "max_threads_per_block": one_of(1024), "max_threads_per_multiprocessor": one_of(2048),
    "max_blocks_per_multiprocessor": one_of(32), "registers_per_multiprocessor": one_of(65536),
    "copy_engines": positive, "shared_bytes_per_block": one_of(49152), "shared_bytes_per_block_optin": positive,
    "shared_bytes_per_multiprocessor": positive, "memory_pools": boolean, "cooperative_launch": boolean,
    "memory_limit": one_of(None), "memory_headroom": positive, "used_bytes": one_of(0), "held_bytes": count,
    "available_bytes": positive, "lease_reserved_bytes": one_of(0), "lease_charged_bytes": one_of(0),
    "leases": one_of(0), "residents": one_of([]), "worker": one_of(None), "partition": one_of(0), "partitions": one_of(0),
}


def test_devices():
    for options, is_eager in (((), False), (("--free",), True)):
        report = run("devices", "-d", "sim:2,mem=4G", *options)
        check("devices", {
            "driver": lambda value: value == {"path": "simulated", "version": 13000},
            "compiler": lambda _: True, "tuning": lambda _: True,
            "machine_code": lambda _: True,
            "levels": one_of({"urgent_classes": [1, 10, 100], "background_classes": [-1, -100]}), "context_mode": one_of("primary"),
            "lazy": one_of(not is_eager),
            "harmed": one_of("none"), "first_cause": one_of(""), "fault_device": one_of(None),
            "fault_shown_on": one_of(None), "unfinished": one_of([]), "bindings": one_of(0),
            "usable_devices": one_of(2), "devices": list_of(lambda _: True), "peers": list_of(lambda _: True)}, report)
        check("compiler", {"path": string, "version": count, "message": string}, report["compiler"])
        check("machine code", {"used": one_of(False), "path": string, "compiler_version": count, "message": string},
              report["machine_code"])
        check("tuning", {"source": one_of("default"), "changed": one_of(0), "path": one_of(""), "message": one_of("")},
              report["tuning"])
        for index, device in enumerate(report["devices"]):
            check("device", DEVICE, device)
            assert device["index"] == index and device["has_context"] == is_eager, device
            assert (0 < device["free_bytes"] < device["total_bytes"]) == is_eager, device
        assert len(report["devices"]) == len({device["uuid"] for device in report["devices"]}) == 2
        assert [len(row) for row in report["peers"]] == [2, 2], report["peers"]
        for i, row in enumerate(report["peers"]):
            for j, link in enumerate(row):
                if i == j:
                    assert link is None, link
                else:
                    check("link", {"access": boolean, "native_atomics": boolean, "performance_rank": count}, link)


def test_bench():
    # Operation: subject, options, unit, whether its first use is timed, batch.
    operations = {
        "ntt": ("babybear", ["--field", "babybear", "-b", "3"], "elements/s", True, 3),
        "extend": ("koalabear", ["--batch", "2", "--blowup", "2"], "elements/s", True, 2),
        "msm": ("bn254_g1", ["--batch", "2"], "points/s", True, 2),
        "poseidon": ("circom-bn254-t3", [], "hashes/s", True, 1),
        "copy": ("to-host", ["--what", "to-host"], "bytes/s", False, 1),
        "pool": ("next", ["--what", "next"], "calls/s", False, 1),
    }
    for operation, (subject, options, unit, has_first_use, batch) in operations.items():
        rows = run("bench", operation, "-s", "16,32", "-r", "2", "-w", "1", *options)
        assert [(row["device"][0], row["size"]) for row in rows] == [("0", 16), ("0", 32), ("1", 16), ("1", 32)], rows
        for row in rows:
            members = {"operation": one_of(operation), "subject": one_of(subject), "device": matches(LABEL),
                       "uuid": matches(UUID), "size": positive, "repeat": one_of(2), "median_seconds": seconds,
                       "min_seconds": seconds, "max_seconds": seconds, "units_per_second": seconds,
                       "unit": one_of(unit), "checked": one_of(True)}
            if has_first_use:
                members["first_use_seconds"] = seconds
            if batch > 1:
                members["batch"] = one_of(batch)
            check(f"bench {operation}", members, row)
            assert 0 < row["min_seconds"] <= row["median_seconds"] <= row["max_seconds"], row
            units = row["units_per_second"] * row["median_seconds"]
            assert abs(units - row["size"] * batch) < 1e-6 * units, row


def test_selftest():
    row = {"device": matches(LABEL), "area": one_of("copy"), "seconds": seconds, "checked": one_of(True)}
    for result in run("selftest", "--only", "copy"):
        check("selftest", {**row, "tests": one_of(5), "passed": one_of(5)}, result)
    results = run("selftest", "--only", "copy", "--each")
    subjects = ["pageable", "pinned", "fill", "slice", "other devices"]
    for result in results:
        check("selftest --each", {**row, "subject": one_of(*subjects)}, result)
    assert [result["subject"] for result in results] == 2 * subjects, results
    os.environ["DEVICEPOOL_SIM_FAULTS"] = "dev0.cuMemcpyHtoD*=700"
    failed = run("selftest", "--only", "copy", "-d", "sim", code=5)
    del os.environ["DEVICEPOOL_SIM_FAULTS"]
    check("failed selftest", {**row, "checked": one_of(False), "tests": positive, "passed": count, "failure": string},
          failed[0])


def test_cache():
    if os.environ.get("DEVICEPOOL_NVRTC") == "last":  # what is prebuilt is not in the cache
        del os.environ["DEVICEPOOL_NVRTC"]
    row = {"device": matches(LABEL), "kind": one_of("field"), "name": one_of("babybear"), "seconds": seconds}
    for result in run("warm-up", "babybear", "-d", "sim"):
        check("warm-up", row, result)
    assert run("cache", "path") == os.environ["DEVICEPOOL_CACHE_DIR"]
    entries = run("cache", "list")
    for entry in entries:
        check("cache", {"key": matches(re.compile(r"[0-9a-f]{64}")), "created": matches(re.compile(r"[-0-9]{10} [:0-9]{5}")),
                        "created_unix_time": positive, "target": one_of("sm_90", "any chip"), "compute_capability": one_of(90, 0),
                        "form": one_of("ptx", "cubin"), "name": string, "bytes": positive, "valid": one_of(True)}, entry)
    files = [os.path.join(root, name) for root, _, names in os.walk(os.environ["DEVICEPOOL_CACHE_DIR"])
             for name in names]
    with open(next(path for path in files if entries[0]["key"] in path), "r+b") as file:
        file.truncate(50)
    invalid = [entry for entry in run("cache", "list") if not entry["valid"]]
    assert len(invalid) == 1, invalid
    check("damaged entry", {"key": string, "bytes": one_of(50), "valid": one_of(False)}, invalid[0])
    assert run("cache", "verify") == {"kept": len(entries) - 1, "deleted": 1}
    assert run("cache", "clear") == {"kept": 0, "deleted": len(entries) - 1}


def test_operations(scratch):
    """msm, ntt, poseidon and prove: their results are compared in other tests."""
    one = os.path.join(scratch, "one")
    with open(one, "wb") as file:
        file.write(b"".join(value.to_bytes(32, "little") for value in (1, 2, 3, 4)))
    check("msm", {"curve": one_of("bn254_g1"), "terms": one_of(4), "infinity": one_of(False),
                  "x": list_of(matches(FIELD_DIGITS)), "y": list_of(matches(FIELD_DIGITS))},
          run("msm", f"ptau:{PTAU}:tauG1", one))
    elements = run("ntt", one)
    assert len(elements) == 4 and list_of(matches(FIELD_DIGITS))(elements), elements
    assert elements[0] == f"0x{1 + 2 + 3 + 4:064x}", elements
    digests = {"set": one_of("circom-bn254-t3"), "items": one_of(2), "digests": list_of(matches(FIELD_DIGITS))}
    check("poseidon hash", digests, run("poseidon", "hash", one))
    check("poseidon tree", {**digests, "items": one_of(4), "height": one_of(2)}, run("poseidon", "tree", one))
    proof, public = os.path.join(scratch, "proof.json"), os.path.join(scratch, "public.json")
    check("prove", {"proof": one_of(proof), "public": one_of(public), "curve": one_of("bn254_g1"),
                    "variables": one_of(215), "public_signals": one_of(1), "domain_size": one_of(256),
                    "seconds": seconds}, run("prove", KEY, WITNESS, proof, public))
    error = run("info", os.path.join(scratch, "none"), code=1)
    check("failure", {"error": lambda _: True}, error)
    check("error", {"status": one_of("POOL_ERR_NOT_FOUND"), "class": one_of("call"), "driver_code": one_of(0),
                    "message": string}, error["error"])


def test_version():
    report = run("version")
    component = {"usable": boolean, "version": matches(re.compile(r"\d+\.\d+")), "path": string, "message": string}
    check("version", {"devicepool": matches(re.compile(r"\d+\.\d+\.\d+")), "driver": lambda _: True,
                      "nvrtc": lambda _: True, "packs": list_of(lambda _: True)}, report)
    for name in ("driver", "nvrtc"):
        check(name, component, report[name])
        assert report[name]["usable"] == (report[name]["message"] == ""), report


def main():
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["DEVICEPOOL_DEVICES"] = "sim:2"
        test_list()
        test_info()
        test_custom_gates(scratch)
        test_devices()
        test_version()
        test_selftest()
        if not run("version")["nvrtc"]["usable"]:
            print("skipped the rest: NVRTC, which compiles kernels, is not here")
            return
        test_bench()
        test_operations(scratch)
        os.environ["DEVICEPOOL_CACHE_DIR"] = os.path.join(scratch, "cache")
        test_cache()


main()
