#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""devicepool bench --suite on simulated devices, in small sizes: every row of docs/performance/rows.json is
measured and checked, reports are compared, and Ctrl-C ends it.

test_suite.py DEVICEPOOL PERFORMANCE-DIRECTORY
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
tool, directory = sys.argv[1:]
sys.path.insert(0, directory)
import rows as table_of_rows  # noqa: E402

SMALL = ["-d", "sim:2", "--scale", "3", "-r", "1", "-w", "0"]


def run(*options, code=0):
    done = subprocess.run([tool, "bench", "--suite", *options], capture_output=True, text=True)
    assert done.returncode == code, (options, done.returncode, done.stderr)
    return done


def test_all_rows(path):
    report = json.loads(run(*SMALL, "--json", "--output", path, "--label", "commit x").stdout)
    with open(path, encoding="utf-8") as file:
        assert json.load(file) == report
    assert report["complete"] is True and report["label"] == "commit x" and report["devices"] == 2, report
    assert {"date", "device", "version", "processors"} <= set(report), report
    expected = table_of_rows.load()
    assert [row["name"] for row in report["rows"]] == [row["name"] for row in expected]
    skipped = {row["name"] for row in report["rows"] if "skipped" in row}
    # Without a driver there is nothing to compare with.
    assert skipped == {row["name"] for row in expected if row["subject"] in (
        "init", "contexts", "push-pop", "driver-launch", "to-device-driver", "to-host-driver")}, skipped
    for row, wanted in zip(report["rows"], expected):
        if row["name"] in skipped:
            continue
        assert row["checked"] is True and row["figure"] > 0 and row["unit"] == wanted["unit"], row
        assert not {"peer", "target", "before"} & set(row), row  # they are of other sizes


def test_compare(path):
    with open(path, encoding="utf-8") as file:
        report = json.load(file)

    def compare(factor, **expectation):
        for row in report["rows"]:
            better = row.get("unit") in table_of_rows.HIGHER_IS_BETTER
            if "figure" in row:
                row["figure"] *= 1 / factor if better else factor
        with open(path, "w", encoding="utf-8") as file:
            json.dump(report, file)
        done = run("tree,extend", *SMALL, "--compare", path, **expectation)
        assert "time / before" in done.stdout, done.stdout
        return done.stderr

    assert "slower" not in compare(1e6)
    assert "rows are slower than in" in compare(1e-12, code=1)
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"rows": 3}')
    assert "no report" in run("ntt", *SMALL, "--compare", path, code=1).stderr
    assert "cannot be read" in run("ntt", *SMALL, "--compare", path + "x", code=1).stderr
    assert not os.path.exists(path + "x")


def test_usage():
    assert "no group 'fft'" in run("fft", *SMALL, code=2).stderr
    assert "does not take --sizes" in run("--sizes", "8", code=2).stderr
    assert "does not take --together" in run("--together", code=2).stderr
    assert "--check needs --launches" in run("--check", code=2).stderr
    assert "no figures for --compare" in run("--launches", "--compare", "x", code=2).stderr
    assert "has no rows of processes" in run("first,start", "--launches", code=2).stderr
    assert "at most 40" in run("--scale", "41", code=2).stderr
    assert "cannot be written" in run("ntt", *SMALL, "--output", "/nowhere/report.json", code=1).stderr


def test_launches():
    """Counts and names; the times of simulated devices mean nothing but decide which rows are marked."""
    done = run("msm,ntt,tree,fold,copy", *SMALL, "--launches", "--json")
    report = json.loads(done.stdout)
    rows = {row["name"]: row for row in report["rows"] if "skipped" not in row}
    assert report["bound_seconds"] == 2.5e-3 and len(rows) > 50, report
    for row in rows.values():
        assert row["checked"] is True and not {"figure", "untimed"} & set(row), row
        assert row["launches"] == sum(kernel["launches"] for kernel in row["kernels"]), row
        times = [kernel["longest_seconds"] for kernel in row["kernels"]]
        assert times == sorted(times, reverse=True) and all(time > 0 for time in times), row
        assert row["is_bounded"] == (not times or times[0] <= 2.5e-3), row
        if times:
            assert row["longest"] == row["kernels"][0]["kernel"] and row["longest_seconds"] == times[0], row

    def kernels(name):
        return {kernel["kernel"]: kernel["launches"] for kernel in rows[name]["kernels"]}

    # One pass transforms 8 elements; a tree of 8 leaves has a launch that converts them and one for each level above.
    assert kernels("ntt bn254_fr 2^20, NN") == {"ntt_pass": 1}, rows
    assert kernels("fold babybear_x4 2^20, arity 4") == {"fri_fold4": 1}, rows
    assert kernels("tree plonky2-goldilocks-t12 2^10, arity 2") == {"poseidon_convert": 1, "poseidon_merkle_level": 3}, rows
    assert kernels("copy on-device 256 MiB") == {}, rows
    small = {"msm_small_sort": 1, "msm_small_accumulate": 1, "msm_small_reduce": 1}
    assert kernels("msm bn254_g1 2^20") == small, rows
    for group in ("msm", "fold"):  # on simulated devices launches of one exceed the bound, of the other hardly any
        done = subprocess.run([tool, "bench", "--suite", group, *SMALL, "--launches", "--check", "--json"],
                              capture_output=True, text=True)
        is_bounded = all(row["is_bounded"] for row in json.loads(done.stdout)["rows"])
        assert done.returncode == (0 if is_bounded else 1), done.stderr
        assert ("rows have launches of more than 2.5 ms" in done.stderr) == (not is_bounded), done.stderr
    run("copy", *SMALL, "--launches", "--check")  # no launches, none too long


def test_failures():
    os.environ["DEVICEPOOL_SIM_FAULTS"] = "dev0.cuMemcpyHtoD*=700"
    done = run("tree", *SMALL, "--json", code=5)
    del os.environ["DEVICEPOOL_SIM_FAULTS"]
    rows = json.loads(done.stdout)["rows"]
    assert rows and all("failure" in row and "figure" not in row for row in rows), rows
    assert "rows failed" in done.stderr, done.stderr


def catches_interrupts(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        caught = next(int(line.split()[1], 16) for line in file if line.startswith("SigCgt:"))
    return caught >> signal.SIGINT - 1 & 1


def test_interrupt(path):
    process = subprocess.Popen(
        [tool, "bench", "--suite", "msm", "-d", "sim:1", "--scale", "3", "-r", "10000", "--json", "--output", path],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not catches_interrupts(process):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 1 and "interrupted" in err, (process.returncode, err)
    assert json.loads(out)["complete"] is False, out
    assert not os.path.exists(path)


with tempfile.TemporaryDirectory() as scratch:
    test_usage()
    version = subprocess.run([tool, "version", "--json"], capture_output=True, text=True, check=True)
    if not json.loads(version.stdout)["nvrtc"]["usable"]:
        print("skipped the rest: rows of the suite have no prebuilt PTX, and NVRTC is not here")
        sys.exit(77)
    test_all_rows(os.path.join(scratch, "report.json"))
    test_compare(os.path.join(scratch, "report.json"))
    test_launches()
    test_failures()
    test_interrupt(os.path.join(scratch, "interrupted.json"))
