#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The queries of docs/deployment/grafana.json use metrics that a pool has, as what they are: rate() of counters,
histogram_quantile() of buckets, labels that the table of docs/metrics.md names and, where the pool has samples, the samples
have. Broken queries are refused.
usage: test_dashboard.py DEVICEPOOL STATUS-SERVICE SOURCE-ROOT"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

tool, service, root = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
SCRAPED = {"job", "instance"}  # Prometheus adds them
FUNCTIONS = {"sum", "max", "min", "avg", "rate", "increase", "changes", "histogram_quantile", "by", "label_values"}
SUFFIXES = ("_bucket", "_sum", "_count")


def families():
    """Name: (type, labels of its samples) of a pool."""
    with tempfile.TemporaryDirectory() as directory:
        socket = os.path.join(directory, "pool.sock")
        running = subprocess.Popen([service, socket], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        running.stdout.readline()
        report = json.loads(subprocess.run([tool, "top", "--json", socket], check=True, stdout=subprocess.PIPE).stdout)
        running.stdin.close()
        running.wait()
    found = {}
    for family in report["metrics"]:
        labels = [set(sample.get("labels", {})) for sample in family["samples"]]
        found[family["name"]] = (family["type"], set.union(*labels) if labels else None)
    return found


def documented():
    """Name: labels, from the table."""
    found = {}
    for row in re.findall(r"^\| (`devicepool_.*?) \| .*? \| (.*?) \|", (root / "docs/metrics.md").read_text(), re.M):
        names = re.findall(r"`([^`]*)`", row[0])
        for name in names:
            if name.startswith("…"):
                continue
            found[name] = set(re.findall(r"[a-z_]+", row[1].split(";")[0]))
    return found


def check(query, pool, table):
    """What is wrong with the query, or None."""
    metric = re.compile(r"\b(devicepool_\w+)(\{[^}]*\})?(\[\w+\])?")
    used, labels = [], set()
    for match in metric.finditer(query):
        name, selector, window = match.groups()
        base = next((name[:-len(s)] for s in SUFFIXES if name.endswith(s) and name[:-len(s)] in pool), name)
        if base not in pool:
            return f"there is no metric {name}"
        kind, samples = pool[base]
        before = query[:match.start()]
        function = re.search(r"(\w+)\s*\($", before)
        function = function.group(1) if function else ""
        if (kind == "counter" or base != name) != bool(window):
            return f"{name} is a {kind}, " + ("which needs rate()" if not window else "of which there is no rate")
        if window and function not in ("rate", "increase", "changes"):
            return f"the window of {name} is an argument of {function or 'nothing'}"
        if (kind == "histogram") != (base != name):
            return f"{name} is a {kind}"
        named = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selector or ""))
        own = set(table.get(base, set())) | (samples or set()) | SCRAPED | ({"le"} if base != name else set())
        if named - own:
            return f"{name} has no label {', '.join(sorted(named - own))}"
        used.append(name)
        labels |= own
    if not used:
        return "no metric of devicepool"
    for group in re.findall(r"\bby\s*\(([^)]*)\)", query):
        unknown = {label.strip() for label in group.split(",")} - labels
        if unknown:
            return f"no metric of the query has the label {', '.join(sorted(unknown))}"
    unknown = set(re.findall(r"\b([a-z_]+)\s*\(", query)) - FUNCTIONS
    if unknown:
        return f"unknown function {', '.join(sorted(unknown))}"
    if query.count("(") != query.count(")") or query.count("{") != query.count("}"):
        return "unbalanced brackets"
    return None


def main():
    pool, table = families(), documented()
    board = json.loads((root / "docs/deployment/grafana.json").read_text())
    queries = [(panel["title"], target) for panel in board["panels"] for target in panel["targets"]]
    failed = 0
    seen = set()
    for title, target in queries:
        problem = check(target["expr"], pool, table)
        shown = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
        by = re.findall(r"\bby\s*\(([^)]*)\)", target["expr"])
        if not problem and by and shown - {label.strip() for group in by for label in group.split(",")}:
            problem = f"the legend shows {shown}, which the query has summed up"
        if problem:
            print(f"FAILED: {title}: {target['expr']}: {problem}")
            failed = 1
        seen.update(re.findall(r"devicepool_\w+", target["expr"]))
    for variable in board["templating"]["list"]:
        names = re.findall(r"devicepool_\w+", variable["query"])
        if any(name not in pool for name in names):
            print(f"FAILED: variable {variable['name']}: {variable['query']}")
            failed = 1
    ids = [panel["id"] for panel in board["panels"]]
    if len(ids) != len(set(ids)):
        print("FAILED: panels share an id")
        failed = 1
    # The check can fail.
    for broken in ("devicepool_nothing", "sum(devicepool_launches_total)", "rate(devicepool_leases[5m])",
                   "devicepool_leases{colour=\"red\"}", "sum by (colour) (devicepool_leases)",
                   "devicepool_lease_wait_seconds", "sum(devicepool_leases", "median(devicepool_leases)", "up"):
        if check(broken, pool, table) is None:
            print(f"FAILED: '{broken}' is accepted")
            failed = 1
    print(f"{len(queries)} queries of {len(board['panels'])} panels, {len(seen)} metrics of the {len(pool)} that a pool has")
    sys.exit(failed)


main()
