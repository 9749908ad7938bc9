#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws ../performance.svg with gnuplot: our speed over that of the fastest open implementation known, on
the same chip, for every measured row that has such a peer. Rows, peers and targets are those of rows.json;
a row's figure is the newest of the raw files in this folder: reports of `devicepool bench --suite`, named
suite_h200_[GROUP_]DATE.json, and those of earlier programs. The picture names the files and the digest of its rows,
so that a test can tell an old one. ../proof.svg shows the operations of one proof, from the ranges that
tests/bench/prove.sh wrote. The figures in the readme and the tables of ../performance.md are written
from the same files.

plot.py          draws and writes
plot.py --check  says whether picture and tables are those of the files
"""
import glob
import hashlib
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
import rows as table_of_rows

LONGEST = 4  # bars end there, their numbers do not
HERE = os.path.dirname(os.path.abspath(__file__))
PICTURE = os.path.join(HERE, "..", "performance.svg")
PROOF = os.path.join(HERE, "..", "proof.svg")
README = os.path.join(HERE, "..", "..", "README.md")
PAGES = [os.path.join(HERE, "..", "performance.md"), os.path.join(HERE, "notes.md"), os.path.join(HERE, "..", "capacity.md")]
END = "<!-- end of figures -->"
FIELDS = {"bn254_fr": "BN254", "bls12_381_fr": "BLS12-381", "goldilocks": "Goldilocks",
          "babybear": "BabyBear", "koalabear": "KoalaBear"}
CURVES = {"bn254_g1": "BN254 G1", "bn254_g2": "BN254 G2", "bls12_381_g1": "BLS12-381 G1"}
SKEWS = {"equal": "all equal", "zeros": "99 % zeros", "bits": "zeros and ones", "window": "one hot window",
         "geometric": "geometric lengths"}
# Mixed additions of BN254 G1 on an H200 in 10^9 per second: field_point_h200.
MIXED_SUMS = 6.54
SCALAR_BITS = 254
SMALL_TREE = 16  # log2 of the leaves


def newest(kind):
    """Name and content of the latest file, by the date that ends its name."""
    # Choosing wants several devices.
    host = {"pool": "h200x4", "several": "h200x2", "proof": "h200x2"}.get(kind, "h200")
    files = sorted(glob.glob(f"{HERE}/{kind}_{host}_*.json"), key=lambda name: name[-15:])
    if not files:
        return "", None
    with open(files[-1], encoding="utf-8") as file:
        return os.path.basename(files[-1]), json.load(file)


def msm_name(row):
    many = f"{row['batch']} x " if row["batch"] > 1 else ""
    return (f"msm {row['curve']} {many}2^{row['log_size']}" + ", tables" * (row["levels"] > 1)
            + ", scalars from the host" * (row["from"] != "device")
            + (f", {SKEWS[row['scalars']]}" if row["scalars"] != "uniform" else ""))


def earlier_figures():
    """Name and figure of the rows of programs that came before the suite, and their file."""
    name, data = newest("msm")
    for row in data["rows"]:
        if row["checked"]:
            yield msm_name(row), row["ms"], name
    name, data = newest("ntt")
    for row in data["rows"]:
        many = f"{row['batch']} x " if row["batch"] > 1 else ""
        yield f"ntt {row['field']} {many}2^{row['log_size']}, {row['order']}", row["ms"], name
    name, data = newest("poseidon")
    for row in data["rows"]:
        size = f"2^{row['count'].bit_length() - 1}"
        if row["what"] == "permutation":
            yield f"poseidon {row['set']} {size}", row["million_per_s"], name
        else:
            _, arity, *place = row["what"].split()
            places = {"host": ", leaves from the host", "home": ", leaves and levels on the host"}
            yield (f"tree {row['set']} {size}, arity {arity}" + "".join(places[word] for word in place),
                   row["million_per_s"], name)
    name, data = newest("pool")
    for row in data["rows"]:
        yield row["name"], row["value"], name


def measured():
    """The rows that have a figure, with the members `figure`, the median of the runs, `best` and `worst` of them, and
    the `file` that they are from."""
    figures = {name: (figure, file, figure, figure) for name, figure, file in earlier_figures()}
    for path in sorted(glob.glob(f"{HERE}/suite_h200_*.json"), key=lambda name: (name[-15:], name)):
        with open(path, encoding="utf-8") as file:
            for row in json.load(file)["rows"]:
                if row.get("checked"):
                    figures[row["name"]] = (row["figure"], os.path.basename(path),
                                            row.get("best", row["figure"]), row.get("worst", row["figure"]))
    return [{**row, **dict(zip(("figure", "file", "best", "worst"), figures[row["name"]]))}
            for row in table_of_rows.load() if row["name"] in figures]


def speed(row, other="peer", figure="figure"):
    """Over that of the best peer, or of the target."""
    ratio = row[figure] / row[other]
    return ratio if row["unit"] in table_of_rows.HIGHER_IS_BETTER else 1 / ratio


def count_of(row):
    return f"{row.get('batch')} × " * (row.get("batch", 1) > 1) + f"2^{row['log_size']}"


def label(row):
    """Of a bar; gnuplot's markup takes ^ and _."""
    count = count_of(row).replace(f"2^{row['log_size']}", f"2^{{{row['log_size']}}}")
    kind, subject = table_of_rows.operation(row), row["subject"]
    if kind == "msm":
        return (f"MSM {CURVES[subject]} {count}" + ", tables" * row.get("tables", False)
                + ", host scalars" * row.get("from_host", False))
    if kind == "ntt":
        return f"NTT {FIELDS[subject]} {count}, {row.get('order', 'NN')}"
    if kind == "extend":
        return f"extension {FIELDS[subject]} {count} → 2^{{{row['log_size'] + row['log_blowup']}}}, {row.get('order', 'NN')}"
    what = "Poseidon2" if subject.startswith("poseidon2-") else "Poseidon"
    return (f"{what} {subject.replace('poseidon2-', '').replace('_', '-')}"
            + (f" tree {row['arity']}:1" if kind == "tree" else ""))


def figures():
    """The table of the readme."""
    rows = {row["name"]: f"{row['figure']:.3g}" for row in measured()}
    lines = [
        ("MSM, BN254 G1, 2^20 / 2^24 points", f"{rows['msm bn254_g1 2^20']} / {rows['msm bn254_g1 2^24']} ms"),
        ("MSM, BLS12-381 G1, 2^20 points", f"{rows['msm bls12_381_g1 2^20']} ms"),
        ("NTT, BN254, 2^20 / 2^24 elements", f"{rows['ntt bn254_fr 2^20, NN']} / {rows['ntt bn254_fr 2^24, NN']} ms"),
        ("NTT, Goldilocks / BabyBear, 2^24 elements",
         f"{rows['ntt goldilocks 2^24, NN']} / {rows['ntt babybear 2^24, NN']} ms"),
        ("Poseidon, BN254 t = 3", f"{rows['poseidon circom-bn254-t3 2^20']} million hashes/s"),
        ("Merkle tree of 2^24 leaves, arity 2, the same", f"{rows['tree circom-bn254-t3 2^24, arity 2']} million leaves/s"),
        ("choosing a device / binding and unbinding it",
         f"{rows['pool_next_device']} / {rows['pool_bind + pool_unbind']} ns"),
    ]
    return "\n".join(["| | |", "|---|---|"] + [f"| {what} | {figure} |" for what, figure in lines])


def markdown(head, rows):
    return "\n".join(["| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *rows]])


def beside(row, member):
    """The peer's figure or the target, and in brackets how ours stands to it."""
    return f"{row[member]:g} ({row['figure'] / row[member]:.2f})" if row.get(member) else ""


def rows_of(group):
    return [row for row in measured() if row["group"] == group]


def msm_table():
    """A line per curve and number of terms: without precomputed multiples, and with all of them."""
    lines = {}
    for row in rows_of("msm"):
        what = (CURVES[row["subject"]], count_of(row) + (", " + SKEWS[row["scalars"]] if "scalars" in row else "")
                + ", scalars from the host" * row.get("from_host", False))
        line = lines.setdefault(what, [*what, *[""] * 6])
        first = 5 if row.get("tables") else 2
        line[first:first + 3] = f"{row['figure']:.3f}", beside(row, "peer"), beside(row, "target")
    return markdown(["curve", "n", "ms", "best peer", "target", "ms, precomputed", "best peer", "target"], list(lines.values()))


def stages_table():
    """The stages of MSMs, which bench_msm measures, where they are what they were on that day."""
    rows = []
    for row in newest("msm")[1]["rows"]:
        curve, ms = row["curve"], row["ms"]
        is_split = row["log_size"] < 17 and row["batch"] == 1 and row["levels"] == 1
        if row["scalars"] != "uniform" or row["from"] != "device" or curve != "bn254_g1" or is_split:
            continue
        windows = -(-SCALAR_BITS // row["window_bits"])
        limit = windows * row["batch"] * 2 ** row["log_size"] / MIXED_SUMS / 1e6
        rows.append([CURVES[curve], count_of(row), str(row["levels"]) if row["levels"] > 1 else "no",
                     f"{ms:.3f}", f"{100 * limit / ms:.0f} %",
                     f"{row['sort_ms']:.3f} / {row['sum_ms']:.3f} / {row['reduce_ms']:.3f}",
                     f"{row['workspace_bytes'] / 2 ** 20:.0f} MiB"])
    return markdown(["curve", "n", "precompute factor", "ms", "of the limit", "sort / accumulate / reduce", "workspace"], rows)


def ntt_limit(row):
    """Milliseconds of the n/2 log n multiplications alone: 10^6 a second of an H200."""
    rate = {"goldilocks": 814e6, "babybear": 2705e6, "koalabear": 2705e6}.get(row["subject"], 63e6)
    return row.get("batch", 1) * 2 ** row["log_size"] / 2 * row["log_size"] / rate


def ntt_table():
    return markdown(["field", "size", "order", "ms", "of the limit", "best peer", "target"],
                    [[row["subject"], count_of(row), row.get("order", "NN"), f"{row['figure']:.4g}",
                      f"{100 * ntt_limit(row) / row['figure']:.0f} %", beside(row, "peer"), beside(row, "target")]
                     for row in rows_of("ntt")])


def extend_table():
    orders = {}
    for row in rows_of("extend"):
        orders.setdefault((row["subject"], row["batch"], row["log_size"], row["log_blowup"]), {})[row.get("order", "NN")] = row
    return markdown(["field", "columns", "ms, NN", "NR", "RR", "best peer", "target"],
                    [[FIELDS[subject], f"{batch}, 2^{log} → 2^{log + blowup}"]
                     + [f"{rows[order]['figure']:.3g}" if order in rows else "" for order in ("NN", "NR", "RR")]
                     + [beside(rows["NN"], "peer"), beside(rows["NN"], "target")]
                     for (subject, batch, log, blowup), rows in orders.items()])


def poseidon_table():
    sets = {}
    for row in rows_of("poseidon"):
        sets.setdefault(row["subject"], {})[row["log_size"]] = row
    return markdown(["parameter set", "2^20 states", "2^14", "2^10", "best peer", "target"],
                    [[name] + [f"{rows[log]['figure']:.4g}" if log in rows else "" for log in (20, 14, 10)]
                     + [beside(rows[20], "peer"), beside(rows[20], "target")] for name, rows in sets.items() if 20 in rows])


def tree_table():
    places = {None: "on the device", "leaves": "leaves from the host", "all": "leaves and levels on the host"}
    return markdown(["parameter set", "leaves", "arity", "where", "speed or time", "best peer", "target"],
                    [[row["subject"], f"2^{row['log_size']}", str(row["arity"]), places[row.get("on_host")],
                      f"{row['figure']:.4g} {row['unit']}", beside(row, "peer"), beside(row, "target")]
                     for row in rows_of("tree") if row["log_size"] > SMALL_TREE])


def small_tree_table():
    """Milliseconds of small trees, a column per size."""
    rows = [row for row in rows_of("tree") if row["log_size"] <= SMALL_TREE]
    sizes = sorted({row["log_size"] for row in rows})
    lines = {}
    for row in rows:
        assert row["unit"] == "ms" and row["arity"] == 2
        lines.setdefault(row["subject"], [row["subject"], *[""] * len(sizes)])[1 + sizes.index(row["log_size"])] = \
            f"{row['figure']:.4g}"
    return markdown(["ms, arity 2, on the device"] + [f"2^{size} leaves" for size in sizes], list(lines.values()))


def calls_table(group):
    """Functions of the pool, beside what does the same without it."""
    rows = rows_of(group)
    bare = {(row["subject"], table_of_rows.size(row)): row for row in rows}
    lines = []
    for row in rows:
        beside_it = bare.get((row.get("bare"), table_of_rows.size(row)))
        target = row.get("target")
        if beside_it and ("times" in row or "plus" in row):
            target = beside_it["figure"] * row.get("times", 1) + row.get("plus", 0)
        if any(other.get("bare") == row["subject"] for other in rows):
            continue
        lines.append([row["name"], f"{row['figure']:.4g} {row['unit']}",
                      f"{beside_it['figure']:.4g} {row['unit']}, {beside_it['name']}" if beside_it else "",
                      f"{target:.4g} {row['unit']}" if target else ""])
    return markdown(["measured", "ours", "without the library", "target"], lines)


def first_table():
    return markdown(["first call", "seconds", "target"],
                    [[row["name"].removeprefix("first "), f"{row['figure']:.2f}", f"{row['target']:g}" if "target" in row else ""]
                     for row in rows_of("first")])


def plain_table(group):
    return markdown(["measured", "ms"], [[row["name"].removeprefix(group + " "), f"{row['figure']:.3g}"]
                                         for row in rows_of(group)])


def missed_table():
    """The rows of the suite that miss their targets; 'by' is in time."""
    rows = [row for row in measured() if "target" in row and row["group"] not in ("copy", "pool", "start", "several")]
    missed = [[row["name"], f"{row['figure']:.4g} {row['unit']}", f"{row['target']:g}",
               f"{100 / speed(row, 'target') - 100:.0f} %"] for row in rows if 1 / speed(row, "target") > 1.005]
    return (f"{len(rows) - len(missed)} of {len(rows)} targets are reached, to half a per cent. The others:\n\n"
            + markdown(["row", "measured", "target", "missed by"], missed))


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


TABLES = {"figures": figures, "msm": msm_table, "stages": stages_table, "ntt": ntt_table, "extend": extend_table, "poseidon": poseidon_table,
          "trees": tree_table, "small_trees": small_tree_table, "pool": lambda: calls_table("pool"), "starts": lambda: calls_table("start"),
          "copies": lambda: calls_table("copy"), "first": first_table, "predicted": predicted_table,
          "commitments": lambda: plain_table("commit"), "folds": lambda: plain_table("fold"),
          "evaluations": lambda: plain_table("evaluate"), "missed": missed_table, "workers": workers_table,
          "several": several_table}


# Of the picture of a proof: what a range is called there, and its colour.
PARTS = {"upload": ("copy of the witness", "#7a7a7a"), "ntt": ("transforms, enqueued", "#c98b2b"),
         "vector": ("transforms, enqueued", "#c98b2b"), "g1": ("MSM in G1", "#4f8a49"),
         "g2": ("MSM in G2", "#3b6ea5")}
PIXELS_PER_MS, LANE, LEFT = 26, 24, 150


def part_of(one):
    """What a range is in PARTS."""
    return one["subject"].rsplit("_", 1)[1] if one["name"] == "msm" else one["name"]


def proof_picture():
    """The ranges of a proof on one device and on two, a line per thread, as a picture."""
    name, proofs = newest("proof")
    end = max(one["end_us"] for proof in proofs for one in proof["ranges"]) / 1e3
    width, top, shapes = LEFT + int(end + 2) * PIXELS_PER_MS, 20, []

    def put_text(x, y, text, anchor="start"):
        shapes.append(f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}">{text}</text>')

    for x, (text, colour) in enumerate(dict.fromkeys(PARTS.values())):
        shapes.append(f'<rect x="{LEFT + 190 * x}" y="{top - 10}" width="12" height="12" fill="{colour}"/>')
        put_text(LEFT + 190 * x + 18, top, text)
    top += 16
    for proof in proofs:
        for thread in sorted({one["thread"] for one in proof["ranges"]}):
            ranges = [one for one in proof["ranges"] if one["thread"] == thread]
            put_text(LEFT - 8, top + 15, f"{proof['proof']}: device {ranges[0]['device']}", "end")
            for one in ranges:
                x, length = (LEFT + one["begin_us"] / 1e3 * PIXELS_PER_MS,
                             (one["end_us"] - one["begin_us"]) / 1e3 * PIXELS_PER_MS)
                shapes.append(f'<rect x="{x:.1f}" y="{top + 2}" width="{max(length - 0.5, 1):.1f}" '
                              f'height="{LANE - 4}" fill="{PARTS[part_of(one)][1]}"/>')
            top += LANE
        top += 10
    for ms in range(0, int(end) + 2, 5):
        x = LEFT + ms * PIXELS_PER_MS
        shapes.insert(0, f'<line x1="{x}" y1="34" x2="{x}" y2="{top}" stroke="#dddddd"/>')
        put_text(x, top + 14, f"{ms} ms", "middle")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top + 24}" '
            'font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n'
            + "\n".join(shapes) + f"\n<!-- made by performance/plot.py from {name} -->\n</svg>\n")


def with_figures(path, tables):
    """The text of a page as it is, and with those tables in place of its own that it has."""
    with open(path, encoding="utf-8") as file:
        text = wanted = file.read()
    for name, table in tables.items():
        begin = f"<!-- {name}: docs/performance/plot.py -->"
        before, found, rest = wanted.partition(begin)
        _, end, after = rest.partition(END)
        if found and not end:
            sys.exit(f"{path} has no {END} after {begin}")
        if found:
            wanted = before + begin + "\n" + table() + "\n" + END + after
    return text, wanted


def origin(names):
    """Chip, versions and dates of the files."""
    reports = []
    for name in names:
        with open(os.path.join(HERE, name), encoding="utf-8") as file:
            reports.append(json.load(file))
    versions = sorted({report["version"] for report in reports if "version" in report})
    dates = sorted(name[-15:-5] for name in names)
    period = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    return f"NVIDIA H200, devicepool {', '.join(versions)}, {period}"


def main():
    rows = [row for row in measured() if row.get("peer")]
    names = sorted({row["file"] for row in rows})
    rows = [(label(row), speed(row), *sorted((speed(row, figure="best"), speed(row, figure="worst")))) for row in rows]
    table = "".join(f'"{text}" {ratio:.4f} {low:.4f} {high:.4f}\n' for text, ratio, low, high in rows)
    about = f"{origin(names)}; medians, and lines from the slowest to the fastest run"
    mark = f"made by performance/plot.py from {' '.join(names)}; {hashlib.sha256(table.encode()).hexdigest()}"
    pages = {path: with_figures(path, TABLES) for path in (README, *PAGES)}
    proof = proof_picture()
    if "--check" in sys.argv:
        with open(PROOF, encoding="utf-8") as file:
            if file.read() != proof:
                sys.exit("docs/proof.svg is not that of the raw files: run docs/performance/plot.py")
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
    with open(PROOF, "w", encoding="utf-8") as file:
        file.write(proof)
    script = f"""
set terminal svg size 860,{90 + 14 * len(rows)} font 'sans-serif,11' background rgb 'white'
set output '{PICTURE}'
$data << END
{table}END
set label 1 'Speed over that of the fastest open implementation known (1.0), both on an H200' \\
    at screen 0.5, screen 0.98 center font ',14'
set label 2 '{about}' at screen 0.5, screen 0.01 center font ',10' textcolor rgb '#555555'
set tmargin 2
set bmargin 4
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
     $data using (shown($2)):0:(shown($3)):(shown($4)) with xerrorbars pt -1 lc rgb '#222222' lw 1, \\
     $data using (shown($4)):0:(sprintf(' %.2f', $2)) with labels left font ',10'
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)
    with open(PICTURE, "a", encoding="utf-8") as file:
        file.write(f"<!-- {mark} -->\n")


if __name__ == "__main__":
    main()
