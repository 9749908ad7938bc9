#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the test cases in Meson's logs and prints one closing line.

usage: summary.py NAME=testlog.json ...

A program built on cmocka counts by its cases, any other as one. A program that failed without
saying which case counts at least one failure. The last lines of a failed program stand before the
counts, where the end of a long log shows them, and so do the programs that took longest.
"""
import json
import re
import sys

LINES = 15  # of each stream of a failed program
LONGEST = 20


def count(entry):
    text = (entry.get("stdout") or "") + "\n" + (entry.get("stderr") or "")
    result = entry["result"]
    if result == "SKIP":
        return 0, 0, 1

    def total(word):
        return sum(int(n) for n in re.findall(r"\[ +%s +\] (\d+) test\(s\)[.,]" % word, text))

    passed, failed, skipped = total("PASSED"), total("FAILED"), total("SKIPPED")
    if result in ("OK", "EXPECTEDFAIL"):
        return (passed or 1), 0, skipped
    return passed, max(failed, 1), skipped


def report(kind, entry):
    """Names a failed program and prints the lines that say why."""
    print("failed: %s: %s (%s)" % (kind, entry["name"], entry["result"]))
    for stream in ("stdout", "stderr"):
        lines = (entry.get(stream) or "").splitlines()
        telling = [line for line in lines if re.search(r"FAILED|ERROR|error|wrong|BALANCED", line)]
        for line in telling[:LINES] + ["..."] + lines[-LINES:] if lines else []:
            print("    " + line[:300])


def main(arguments):
    totals = [0, 0, 0]
    durations = []
    for argument in arguments:
        name, path = argument.split("=", 1)
        rows = [0, 0, 0]
        with open(path, encoding="utf-8") as log:
            for line in log:
                entry = json.loads(line)
                durations.append((entry.get("duration") or 0, "%s: %s" % (name, entry["name"])))
                numbers = count(entry)
                rows = [a + b for a, b in zip(rows, numbers)]
                if numbers[1]:
                    report(name, entry)
        print("%-10s %5d passed, %d failed, %d skipped" % (name, *rows))
        totals = [a + b for a, b in zip(totals, rows)]
    print("longest, in seconds beside other tests:")
    for seconds, test in sorted(durations, reverse=True)[:LONGEST]:
        print("%8.1f  %s" % (seconds, test))
    print("%d passed, %d failed, %d skipped" % tuple(totals))
    return 1 if totals[1] or not totals[0] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
