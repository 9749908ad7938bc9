#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws ../performance.svg with gnuplot: our speed over that of the fastest open implementation known, on
the same chip, for every measured row that has such a peer. The rows come from the newest raw file of
each kind in this folder; the picture names them and their digest, so that a test can tell an old one. The
figures in the readme and the tables of ../performance.md are written from the same files.

plot.py          draws and writes
plot.py --check  says whether picture and tables are those of the files
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
PAGE = os.path.join(HERE, "..", "performance.md")
END = "<!-- end of figures -->"
FIELDS = {"bn254_fr": "BN254", "bls12_381_fr": "BLS12-381", "goldilocks": "Goldilocks",
          "babybear": "BabyBear", "koalabear": "KoalaBear"}
CURVES = {"bn254_g1": "BN254 G1", "bn254_g2": "BN254 G2", "bls12_381_g1": "BLS12-381 G1"}
SKEWS = {"equal": "all equal", "zeros": "99 % zeros", "bits": "zeros and ones", "window": "one hot window",
         "geometric": "geometric lengths"}
# Mixed additions of an H200 in 10^9 per second: field_point_h200.
MIXED_SUMS = {"bn254_g1": 6.54, "bn254_g2": 2.04, "bls12_381_g1": 2.92}
SCALAR_BITS = {"bn254_g1": 254, "bn254_g2": 254, "bls12_381_g1": 255}


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
            many = f"{row['batch']} × " if row["batch"] > 1 else ""
            tables = ", tables" if row["levels"] > 1 else ""
            host = ", host scalars" if row["from"] != "device" else ""
            yield (f"MSM {CURVES[row['curve']]} {many}2^{{{row['log_size']}}}{tables}{host}",
                   row["best_peer_ms"] / row["ms"])


KINDS = {"msm": msm_rows, "ntt": ntt_rows, "poseidon": poseidon_rows}


def newest(kind):
    """Name and content of the latest file, by the date that ends its name."""
    host = {"pool": "h200x4", "several": "h200x2"}.get(kind, "h200")  # choosing wants several devices
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


def markdown(head, rows):
    return "\n".join(["| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *rows]])


def beside(ours, theirs):
    """Theirs, and in brackets how ours stands to it."""
    return f"{theirs:g} ({ours / theirs:.2f})" if theirs else ""


def msm_table():
    rows = []
    for row in newest("msm")[1]["rows"]:
        curve, ms = row["curve"], row["ms"]
        size = f"{row['batch']} × " * (row["batch"] > 1) + f"2^{row['log_size']}"
        what = SKEWS.get(row["scalars"], "") or "scalars from the host" * (row["from"] != "device")
        windows = -(-SCALAR_BITS[curve] // row["window_bits"])
        limit = windows * row["batch"] * 2 ** row["log_size"] / MIXED_SUMS[curve] / 1e6
        rows.append([CURVES[curve], size + (", " + what if what else ""),
                     str(row["levels"]) if row["levels"] > 1 else "no", f"{ms:.3f}",
                     "" if row["scalars"] != "uniform" else f"{100 * limit / ms:.0f} %",
                     beside(ms, row["best_peer_ms"]), beside(ms, row["target_ms"]),
                     f"{row['sort_ms']:.3f} / {row['sum_ms']:.3f} / {row['reduce_ms']:.3f}",
                     f"{row['workspace_bytes'] / 2 ** 20:.0f} MiB"])
    return markdown(["curve", "n", "precompute factor", "ms", "of the limit", "best peer", "target", "sort / accumulate / reduce",
                     "workspace"], rows)


def ntt_table():
    rows = []
    for row in newest("ntt")[1]["rows"]:
        ms = row["ms"]
        rows.append([row["field"], f"{row['batch']} × " * (row["batch"] > 1) + f"2^{row['log_size']}", row["order"],
                     f"{ms:.4g}", f"{row['ms_of_16_in_a_row']:.4g}", f"{100 * row['floor_ms'] / ms:.0f} %",
                     beside(ms, row["best_peer_ms"]), beside(ms, row["target_ms"])])
    return markdown(["field", "size", "order", "ms", "back to back", "of the limit", "best peer", "target"], rows)


def poseidon_table():
    states = {}
    for row in newest("poseidon")[1]["rows"]:
        states.setdefault((row["what"], row["set"]), []).append(row)
    rows = []
    for (what, name), sizes in states.items():
        most = max(sizes, key=lambda row: row["count"])
        ours = {row["count"]: f"{row['million_per_s']:.4g}" for row in sizes}
        label = name if what == "permutation" else f"{what}, {name}"
        rows.append([label, f"{most['million_per_s']:.4g}", ours.get(2 ** 14, ""), ours.get(2 ** 10, ""),
                     beside(most["million_per_s"], most["peer"]), beside(most["million_per_s"], most["target"])])
    return markdown(["parameter set", "2^20 states, 2^24 leaves", "2^14", "2^10", "best peer", "target"], rows)


def predicted_table():
    """The predictions of tests/unit/test_costs.c; in brackets the speed over that of one device."""
    with open(f"{HERE}/predicted_h200.json", encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    counts = (1, 2, 4, 8)
    return markdown(["predicted, ms", *(f"{count} GPU" + "s" * (count > 1) for count in counts)],
                    [[row["what"]] + [f"{row[f'ms_of_{count}']:g}" + (
                        f" ({row['ms_of_1'] / row[f'ms_of_{count}']:.2f} ×)" if count > 1 else "") for count in counts]
                     for row in rows])


def several_table():
    """The rows of tests/bench/several.sh: the same job on one device and on all."""
    kinds = {"bn254_g1": "MSM BN254 G1", "bn254_fr": "NTT BN254", "circom-bn254-t3": "Merkle tree, circom-bn254-t3, arity 2"}
    rows = []
    for command, pairs in newest("several")[1].items():
        options = command.split()
        for alone, together in zip(pairs[::2], pairs[1::2]):
            what = f"{alone['batch']} × " if alone.get("batch", 1) > 1 else ""
            what = kinds[alone["subject"]] + f", {what}2^{alone['size'].bit_length() - 1}"
            what += ", shards" if "--sharded" in options else ", pinned host memory"
            what += ", NR" if "--order" in options else ""
            what += f", precompute factor {options[-1]}" if "--precompute" in options else ""
            assert alone["checked"] and together["checked"]
            rows.append([what, f"{1e3 * alone['median_seconds']:.4g}", f"{1e3 * together['median_seconds']:.4g}",
                         f"{alone['median_seconds'] / together['median_seconds']:.2f} ×"])
    return markdown(["measured, ms", "1 GPU", "2 GPUs", "speed-up"], rows)


def workers_table():
    """The rows of tests/bench/workers.sh: in the process and through a worker process."""
    inside, workers = newest("workers")[1].values()
    scale = {"ns": 1, "ms": 1e6}
    rows = []

    def add(what, before, after):
        shown, unit = (1e-3, "µs") if before < 1e6 else (1e-6, "ms")
        rows.append([what, f"{before * shown:.4g} {unit}", f"{after * shown:.4g} {unit}"])

    for before, after in zip(inside["launch"], workers["launch"]):
        if not before["name"].endswith("compile and load"):
            add(before["name"], before["value"] * scale[before["unit"]], after["value"] * scale[after["unit"]])
    for command in inside:
        for before, after in zip(inside[command], workers[command]) if command != "launch" else []:
            assert before["checked"] and after["checked"]
            add(f"{before['operation']} {before['subject']}, 2^{before['size'].bit_length() - 1}",
                before["median_seconds"] * 1e9, after["median_seconds"] * 1e9)
    return markdown(["measured", "in the process", "through a worker"], rows)


def with_figures(path, tables):
    """The text of a page as it is, and with those tables in place of its own."""
    with open(path, encoding="utf-8") as file:
        text = wanted = file.read()
    for name, table in tables.items():
        begin = f"<!-- {name}: docs/performance/plot.py -->"
        before, _, rest = wanted.partition(begin)
        _, end, after = rest.partition(END)
        if not end:
            sys.exit(f"{path} has no place between {begin} and {END}")
        wanted = before + begin + "\n" + table + "\n" + END + after
    return text, wanted


def main():
    names, rows = [], []
    for kind in KINDS:
        name, data = newest(kind)
        if data:
            names.append(name)
            rows += KINDS[kind](data)
    table = "".join(f'"{label}" {ratio:.4f}\n' for label, ratio in rows)
    mark = f"made by performance/plot.py from {' '.join(names)}; {hashlib.sha256(table.encode()).hexdigest()}"
    pages = {README: with_figures(README, {"figures": figures()}),
             PAGE: with_figures(PAGE, {"msm": msm_table(), "ntt": ntt_table(), "poseidon": poseidon_table(),
                                       "predicted": predicted_table(), "workers": workers_table(),
                                       "several": several_table()})}
    if "--check" in sys.argv:
        with open(PICTURE, encoding="utf-8") as file:
            if mark not in file.read():
                sys.exit("docs/performance.svg is not that of the raw files: run docs/performance/plot.py")
        for path, (written, wanted) in pages.items():
            if written != wanted:
                sys.exit(f"the figures of {path} are not those of the raw files: run docs/performance/plot.py")
        return
    for path, (_, wanted) in pages.items():
        with open(path, "w", encoding="utf-8") as file:
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
