#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""devicepool bench share on simulated devices: the rows of the report, and what is refused.

test_share.py DEVICEPOOL VECTORS
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

tool, vectors = sys.argv[1:]
SMALL = ["-d", "sim:2", "--arrivals", "12", "--rate", "200", "--clients", "2"]
LATENCIES = ["p50_ms", "p99_ms", "p999_ms", "max_ms"]


def run(*options, code=0):
    done = subprocess.run([tool, "bench", "share", *options], capture_output=True, text=True)
    assert done.returncode == code, (options, done.returncode, done.stderr)
    return done


def test_report():
    report = json.loads(run(*SMALL, "--json", "--seed", "7", "--short", "msm:2^4,ntt:2^5,poseidon:3,open:2^3",
                            "--long", "ntt:2^6,tree:2^2").stdout)
    assert report["rate"] == 200 and report["seed"] == 7 and report["clients"] == 2, report
    assert report["device"] and report["version"], report
    rows = report["rows"]
    shorts = [("msm", 16), ("ntt", 32), ("poseidon", 3), ("open", 8)]
    expected = [(*short, None, None, "alone") for short in shorts]
    for long in [("ntt", 64), ("tree", 4)]:
        expected.append((None, None, *long, "alone"))
        expected += [(*short, *long, mode) for short in shorts for mode in ("as-it-comes", "priority")]
    found = [tuple(row.get(key) for key in ("short", "short_size", "long", "long_size", "mode")) for row in rows]
    assert found == expected, found
    for row in rows:
        assert row["wrong"] == 0, row
        if "short" in row:
            assert row["arrivals"] == 12, row
            times = [row[key] for key in LATENCIES]
            assert 0 < times[0] and times == sorted(times), row
        else:
            assert not set(LATENCIES) & set(row) and row["long_calls"] >= 3, row
        if "long" in row:
            assert row["long_calls"] >= 1 and row["long_ms"] > 0, row
        assert ("long_percent" in row) == ("short" in row and "long" in row), row


def test_table():
    table = run(*SMALL, "--short", "ntt:2^4", "--long", "poseidon:5", "--mode", "priority").stdout
    lines = table.splitlines()
    assert len(lines) == 4, table
    assert [line.split()[0] for line in lines] == ["short", "ntt", "poseidon", "ntt"], table
    assert "p99.9 ms" in lines[0] and "priority" in lines[3], table


def test_partition():
    report = json.loads(run("-d", "sim:1,sms=132/16+116", *SMALL[2:], "--json", "--short", "ntt:2^5",
                            "--long", "ntt:2^6").stdout)
    modes = [(row.get("short"), row.get("long"), row["mode"]) for row in report["rows"]]
    assert modes == [("ntt", None, "alone"), (None, "ntt", "alone"), ("ntt", "ntt", "partition")], modes
    assert all(row["wrong"] == 0 for row in report["rows"]), report


def test_proofs():
    files = ["--key", vectors + "/iden3/no_public.zkey", "--witness", vectors + "/iden3/no_public.wtns"]
    report = json.loads(run(*SMALL, "--json", "--short", "ntt:2^4", "--long", "groth16", "--mode", "priority", *files).stdout)
    rows = [(row.get("short"), row.get("long"), row["mode"]) for row in report["rows"]]
    assert rows == [("ntt", None, "alone"), (None, "groth16", "alone"), ("ntt", "groth16", "priority")], rows
    assert all(row["wrong"] == 0 for row in report["rows"]), report
    info = json.loads(subprocess.run([tool, "info", "--json", files[1]], capture_output=True, check=True).stdout)
    assert str(report["rows"][1]["long_size"]) in json.dumps(info), (report, info)
    assert "size of groth16" in run("--long", "groth16", "--key", "x", code=2).stderr
    assert "size of groth16" in run("--long", "groth16:8", *files, code=2).stderr
    assert "is a long job" in run("--short", "groth16", *files, code=2).stderr
    run(*SMALL, "--short", "ntt:2^4", "--long", "groth16", "--key", tool, "--witness", files[3], code=1)


def test_plot():
    """One point with a bar from p50 to p99 per short job, long job and mode."""
    if not shutil.which("gnuplot"):
        return
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "x.svg")
        assert "drawn" in run(*SMALL, "--short", "ntt:2^4,ntt:2^5", "--long", "poseidon:5", "--plot", path).stderr
        root = ET.parse(path).getroot()
    texts = ["".join(text.itertext()).strip() for text in root.iter("{http://www.w3.org/2000/svg}text")]
    for label in ("ntt 16 alone", "ntt 32 alone", "ntt 16 beside poseidon 5", "ntt 32 beside poseidon 5", "alone", "as-it-comes",
                  "priority"):
        assert label in texts, (label, texts)
    assert "partition" not in texts and any("bars: p50 to p99" in text for text in texts), texts
    points = [use for use in root.iter("{http://www.w3.org/2000/svg}use")]
    assert len(points) >= 6, len(points)


def test_usage():
    assert "no job 'fft'" in run("--short", "fft", code=2).stderr
    assert "--long takes NAME:SIZE" in run("--long", "msm:x", code=2).stderr
    assert "--long takes NAME:SIZE" in run("--long", "msm:0", code=2).stderr
    assert "powers of two" in run("--long", "ntt:3", code=2).stderr
    assert "ntt has sizes up to 2^28" in run("--long", "ntt:2^29", code=2).stderr
    assert "--mode takes" in run("--mode", "partition", code=2).stderr
    assert "--arrivals must be" in run("--arrivals", "0", code=2).stderr
    assert "--rate must be" in run("--rate", "0", code=2).stderr
    assert "--clients must be" in run("--clients", "257", code=2).stderr
    assert "bench share does not take --sizes" in run("--sizes", "8", code=2).stderr
    done = subprocess.run([tool, "bench", "ntt", "--seed", "3"], capture_output=True, text=True)
    assert done.returncode == 2 and "bench ntt does not take --seed" in done.stderr, done
    done = subprocess.run([tool, "bench", "--suite", "--seed", "3"], capture_output=True, text=True)
    assert done.returncode == 2 and "bench --suite does not take --seed" in done.stderr, done


test_report()
test_table()
test_partition()
test_proofs()
test_plot()
test_usage()
