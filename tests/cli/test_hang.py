# SPDX-License-Identifier: Apache-2.0
"""A device that hangs ends every command after --timeout, with exit code 3 and the reason.

usage: test_hang.py DEVICEPOOL VECTORS-DIRECTORY FAKE-LIBRARIES-DIRECTORY
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

TOOL, VECTORS, FAKES = (os.path.abspath(path) for path in sys.argv[1:])
IDEN3, KZG = VECTORS + "/iden3/", VECTORS + "/kzg/"
REASON = "the device hangs, or --timeout is too short"
# Each with the first words of its message.
COMMANDS = {
    "demo": ["demo", "--data", VECTORS],
    "msm": ["msm", f"kzg:{KZG}trusted_setup.txt:lagrange", KZG + "valid_blob_2.blob", "--big-endian", "-o", "msm"],
    "ntt": ["ntt", "values", "-o", "ntt"],
    "poseidon": ["poseidon", "tree", "values", "-o", "poseidon"],
    "prove": ["prove", IDEN3 + "poseidon_bn254.zkey", IDEN3 + "poseidon_bn254.wtns", "proof", "public"],
    "warm-up": ["warm-up", "bn254_fr"],
    "ntt bn254_fr 64 on 0 .*": ["bench", "ntt", "-s", "64", "-r", "2"],
    "bench": ["bench", "share", "--short", "msm:2^8", "--long", "msm:2^10"],
    "tune": ["tune", "--operation", "ntt", "-s", "2^10", "-o", "tune"],
    "0 .*, ntt": ["selftest", "--only", "ntt"],
}
OPENING = {"devices": ["devices"], "version": ["version"], "selftest": ["selftest"], "bench": ["bench", "ntt"],
           "demo": ["demo"], "msm": COMMANDS["msm"], "ntt": COMMANDS["ntt"], "poseidon": COMMANDS["poseidon"],
           "prove": COMMANDS["prove"], "warm-up": COMMANDS["warm-up"], "tune": ["tune"]}


def check(commands, seconds, environment):
    """All at once: they wait most of the time."""
    begin = time.monotonic()
    children = {name: subprocess.Popen([TOOL, *command, "--timeout", str(seconds)], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | environment)
        for name, command in commands.items()}
    for name, child in children.items():
        output, errors = child.communicate(timeout=200)
        assert child.returncode == 3, (name, child.returncode, output, errors)
        assert re.search(f"^devicepool: {name}: .*no (progress for|result after) {seconds} s: {REASON}$",
            errors, re.M), (name, errors)
        assert time.monotonic() - begin >= seconds
    assert os.listdir(".") == ["values"], os.listdir(".")


def main():
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        with open("values", "wb") as file:
            file.write(bytes(32 * 64))
        # A driver whose first call does not return.
        check(OPENING, 1, {"DEVICEPOOL_LIBCUDA": FAKES + "/libcuda_good.so", "FAKE_HANG": "1",
            "DEVICEPOOL_DEVICES": "0"})
        # A kernel that does not end. Compilations, for which nothing else is done, need the longer time.
        warm = ["warm-up", "bn254_fr", "bn254_g1", "bls12_381_g1", "circom-bn254-t3", "-q", "-d", "sim"]
        if subprocess.run([TOOL, *warm], stdout=subprocess.DEVNULL).returncode == 4:
            return 77
        hung = {"DEVICEPOOL_DEVICES": "sim", "DEVICEPOOL_SIM_FAULTS": "cuLaunchKernel*@2=hang"}
        check(COMMANDS, 5, hung)
        done = subprocess.run([TOOL, *COMMANDS["ntt"], "--timeout", "1", "--json"], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=os.environ | hung)
        assert done.returncode == 3 and REASON in json.loads(done.stdout)["error"]["message"], done
        # An output that nobody reads holds up neither the watch nor the end.
        for full, option in ("stdout", "--json"), ("stderr", "--progress"):
            reader, writer = os.pipe()
            os.set_blocking(writer, False)
            while True:
                try:
                    os.write(writer, b"x")
                except BlockingIOError:
                    break
            os.set_blocking(writer, True)
            streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, full: writer}
            done = subprocess.run([TOOL, *COMMANDS["ntt"], "--timeout", "3", option], env=os.environ | hung, timeout=100, **streams)
            assert done.returncode == 3, (full, done)
            os.close(reader)
            os.close(writer)
        # What takes more than two seconds says so; without a terminal with --progress only.
        for option, shown in ([], False), (["--progress"], True):
            done = subprocess.run([TOOL, *COMMANDS["ntt"], "--timeout", "4", *option], text=True,
                stderr=subprocess.PIPE, env=os.environ | hung)
            assert bool(re.search("^transforming 64 elements of bn254_fr  [2-4] s$", done.stderr, re.M)) == shown, done
        # As long as there is progress, a command may take longer.
        begin = time.monotonic()
        done = subprocess.run([TOOL, "bench", "share", "--short", "ntt:2^6", "--long", "ntt:2^10", "--mode", "priority",
            "--arrivals", "20", "--rate", "8", "--clients", "1", "--timeout", "2", "-d", "sim"], stdout=subprocess.DEVNULL)
        assert done.returncode == 0 and time.monotonic() - begin > 4, done
    return 0


sys.exit(main())
