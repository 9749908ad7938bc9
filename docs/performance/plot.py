#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws ../performance.svg with gnuplot: our speed over that of the fastest open implementation known, on
the same chip, for every measured row that has such a peer. The rows come from the newest raw file of
each kind in this folder; the picture names them and their digest, so that a test can tell an old one. The
table of figures in the readme is written from the same files.

plot.py          draws and writes
plot.py --check  says whether picture and table are those of the files
"""
import glob
import hashlib
import json
import os
import subprocess
import sys

LONGEST = 4  # bars end there, their numbers do not
HERE = os.path.dirname(os.path.abspath(__file__))
PICTURE = os.path.join(HERE, "..", "performance.svg")
README = os.path.join(HERE, "..", "..", "README.md")
BEGIN, END = "<!-- figures: docs/performance/plot.py -->", "<!-- end of figures -->"
FIELDS = {"bn254_fr": "BN254", "bls12_381_fr": "BLS12-381", "goldilocks": "Goldilocks",
          "babybear": "BabyBear", "koalabear": "KoalaBear"}


def ntt_rows(data):
    for row in data["rows"]:
        if row["best_peer_ms"]:
            many = f"{row['batch']} × " if row["batch"] > 1 else ""
            yield (f"NTT {FIELDS.get(row['field'], row['field'])} {many}2^{{{row['log_size']}}}, {row['order']}",
                   row["best_peer_ms"] / row["ms"])


def poseidon_rows(data):
    for row in data["rows"]:
        if row.get("peer"):
            what = "Poseidon2" if row["set"].startswith("poseidon2-") else "Poseidon"
            name = row["set"].replace("poseidon2-", "").replace("_", "-")
            if row["what"] != "permutation":
                name += f" {row['what']}:1"
            yield f"{what} {name}", row["million_per_s"] / row["peer"]


def msm_rows(data):
    for row in data["rows"]:
        if row["best_peer_ms"] and row["checked"]:
            curve = row["curve"].replace("bn254_g", "BN254 G").replace("bls12_381_g", "BLS12-381 G")
            many = f"{row['batch']} × " if row["batch"] > 1 else ""
            tables = ", tables" if row["levels"] > 1 else ""
            host = ", host scalars" if row["from"] != "device" else ""
            skew = "" if row["scalars"] == "uniform" else ", " + row["scalars"]
            yield (f"MSM {curve} {many}2^{{{row['log_size']}}}{tables}{host}{skew}",
                   row["best_peer_ms"] / row["ms"])


KINDS = {"msm": msm_rows, "ntt": ntt_rows, "poseidon": poseidon_rows}


def newest(kind):
    """Name and content of the latest file, by the date that ends its name."""
    host = "h200x4" if kind == "pool" else "h200"  # choosing wants several devices
    files = sorted(glob.glob(f"{HERE}/{kind}_{host}_*.json"), key=lambda name: name[-15:])
    if not files:
        return "", None
    with open(files[-1], encoding="utf-8") as file:
        return os.path.basename(files[-1]), json.load(file)


def figures():
    """The table of the readme."""
    def value(kind, member, **wanted):
        rows = [row for row in newest(kind)[1]["rows"] if all(row[key] == wanted[key] for key in wanted)]
        return f"{rows[0][member]:.3g}"

    def msm(curve, log_size):
        return value("msm", "ms", curve=curve, log_size=log_size, batch=1, levels=1, scalars="uniform")

    def ntt(field, log_size):
        return value("ntt", "ms", field=field, log_size=log_size, batch=1, order="NN")

    def pool(name):
        return value("pool", "value", name=name)

    hashes = value("poseidon", "million_per_s", set="circom-bn254-t3", what="permutation", count=1 << 20)
    leaves = value("poseidon", "million_per_s", set="circom-bn254-t3", what="tree 2")
    lines = [
        ("MSM, BN254 G1, 2^20 / 2^24 points", f"{msm('bn254_g1', 20)} / {msm('bn254_g1', 24)} ms"),
        ("MSM, BLS12-381 G1, 2^20 points", f"{msm('bls12_381_g1', 20)} ms"),
        ("NTT, BN254, 2^20 / 2^24 elements", f"{ntt('bn254_fr', 20)} / {ntt('bn254_fr', 24)} ms"),
        ("NTT, Goldilocks / BabyBear, 2^24 elements", f"{ntt('goldilocks', 24)} / {ntt('babybear', 24)} ms"),
        ("Poseidon, BN254 t = 3", f"{hashes} million hashes/s"),
        ("Merkle tree of 2^24 leaves, arity 2, the same", f"{leaves} million leaves/s"),
        ("choosing a device / binding and unbinding it",
         f"{pool('pool_next_device')} / {pool('pool_bind + pool_unbind')} ns"),
    ]
    return "\n".join(["| | |", "|---|---|"] + [f"| {what} | {figure} |" for what, figure in lines])


def readme_with(table):
    """The readme's text with that table in place of its own."""
    with open(README, encoding="utf-8") as file:
        text = file.read()
    before, _, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        sys.exit(f"README.md has no place between {BEGIN} and {END}")
    return text, before + BEGIN + "\n" + table + "\n" + END + after


def main():
    names, rows = [], []
    for kind in KINDS:
        name, data = newest(kind)
        if data:
            names.append(name)
            rows += KINDS[kind](data)
    table = "".join(f'"{label}" {ratio:.4f}\n' for label, ratio in rows)
    mark = f"made by performance/plot.py from {' '.join(names)}; {hashlib.sha256(table.encode()).hexdigest()}"
    written, wanted = readme_with(figures())
    if "--check" in sys.argv:
        with open(PICTURE, encoding="utf-8") as file:
            if mark not in file.read():
                sys.exit("docs/performance.svg is not that of the raw files: run docs/performance/plot.py")
        if written != wanted:
            sys.exit("the readme's figures are not those of the raw files: run docs/performance/plot.py")
        return
    with open(README, "w", encoding="utf-8") as file:
        file.write(wanted)
    script = f"""
set terminal svg size 860,{70 + 14 * len(rows)} font 'sans-serif,11' background rgb 'white'
set output '{PICTURE}'
$data << END
{table}END
set label 1 'Speed over that of the fastest open implementation known (1.0), both on an H200' \\
    at screen 0.5, screen 0.98 center font ',14'
set tmargin 2
set yrange [{len(rows) - 0.5}:-0.5]
set xrange [0:{LONGEST + 0.2}]
set xtics 0.5 nomirror
set ytics nomirror scale 0 textcolor rgb '#222222'
set grid x lc rgb '#dddddd'
set border 3 lc rgb '#888888'
set arrow 1 from 1, graph 0 to 1, graph 1 nohead lc rgb '#333333' lw 1.5 front
unset key
colour(ratio) = ratio >= 0.995 ? 0x4f8a49 : 0xc98b2b
shown(ratio) = ratio > {LONGEST} ? {LONGEST} : ratio
plot $data using (shown($2) / 2):0:(0):(shown($2)):($0 - 0.36):($0 + 0.36):(colour($2)):ytic(1) \\
         with boxxyerror fill solid noborder lc rgb variable, \\
     $data using (shown($2)):0:(sprintf(' %.2f', $2)) with labels left font ',10'
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)
    with open(PICTURE, "a", encoding="utf-8") as file:
        file.write(f"<!-- {mark} -->\n")


if __name__ == "__main__":
    main()
