#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails where names, comments, messages or pages use a retired word instead of the term of
docs/glossary.md.   vocabulary.py ROOT [--count]

A line that has to use such a word in another sense says so at its end: "vocabulary: ok".
"""
import collections
import os
import re
import subprocess
import sys

# What was retired, and the term to use. Word boundaries count underscores as parts of names.
RETIRED = [
    (r"crews?", "thread pool, worker"),
    (r"trips?", "pass"),
    (r"folders?", "directory"),
    (r"(?<!there )(?:is|are) nothing", "no-op"),
    (r"no place for", "X must not be NULL"),
    (r"unmakes?|unmaking|unmade", "destroy"),
    (r"withheld|withholds?", "quarantined"),
    (r"starts? early|let_next_kernel_start|wait_for_earlier_work", "programmatic dependent launch"),
    (r"points kept|kept points", "bases"),
    (r"tables? of multiples", "precomputed bases"),
    (r"turns_(?:of|between)|turn_outputs|the turns", "twiddles"),
    (r"raise_all|raised lanes?|raises all|lanes? raised", "S-box"),
    (r"landings?", "staging buffer"),
    (r"rooms|this room|room's", "layer"),
    (r"crowds?|crowded", "oversized partition"),
    (r"burnt", "consumed"),
    (r"wish(?:es|ed)?", "scripted behaviour"),
    (r"(?:device|pool|the|its) facts", "properties"),
    (r"one's own|of his own|his choice", "custom, private"),
    (r"(?:an|a|one) (?:element|entry|word|device|launch) (?:an|a|each)", "per"),
    (r"gives? (?:it )?back|gave back|is told|are told|was told", "returns, releases; is notified"),
    (r"handed (?:in|over|out)|hands? (?:in|over|out|on)", "pass, transfer"),
    (r"(?:is|are|was|were|be) looked at", "examined, read"),
    (r"(?:is|are|was|were|be|been) asked(?: for)?", "requested, queried"),
    (r"under way", "in progress"),
    (r"somebody|whoever", "another thread, other code, the caller"),
    (r"go(?:es)? on|went on", "continue"),
    (r"anew", "again, recomputed, recompiled"),
    (r"does not tell|do not tell|cannot tell", "report, show"),
    (r"take[ns]? off|took off", "pop, remove"),
    (r"device's state gives", "see status.h"),
    (r"dealt out|deal(?:s|t)? (?:it|them) out", "distributed, divided"),
    (r"tuned numbers?", "tuning parameter"),
    (r"as ever", "omit it"),
    (r"points_(?:begin|allocate|discard|hand_over|make_known)|pick_room", "msm_bases_, candidate_list"),
]
SKIPPED = ("tests/vectors/", "docs/performance/", "ptx/prebuilt/", "docs/CHANGELOG.md",
           "tests/docs/vocabulary.py", "docs/glossary.md")
TEXT = re.compile(r"\.(?:c|h|cpp|cu|cuh|def|md|py|sh|build|bash|1|map|svg)$")


def with_matches(root, files, expression):
    """Those of the files in which grep finds the expression, as it is compiled there; all where there is no such grep."""
    done = subprocess.run(["grep", "-lPia", "-e", expression.pattern, "--", *files], cwd=root, env=dict(os.environ, LC_ALL="C"),
                          capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode in (0, 1) else files


def main():
    root = sys.argv[1]
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"],
                            capture_output=True, text=True, check=False)
    if listed.returncode:  # a release tarball has no repository
        files = [os.path.relpath(os.path.join(folder, name), root)
                 for folder, _, names in os.walk(root) for name in names]
    else:
        files = listed.stdout.split("\n")
    # The condition in front stands once: within words it fails before any alternative is tried.
    expression = re.compile(r"(?<![A-Za-z])(?:%s)(?![A-Za-z])" % "|".join(
        "(?P<w%d>%s)" % (i, words) for i, (words, _) in enumerate(RETIRED)), re.IGNORECASE)
    counts = collections.Counter()
    read = [path for path in sorted(set(files)) if TEXT.search(path) and not path.startswith(SKIPPED)
            and not path.startswith("build") and os.path.isfile(os.path.join(root, path))]
    for path in with_matches(root, read, expression):
        try:
            with open(os.path.join(root, path), encoding="utf-8") as file:
                lines = file.read().split("\n")
        except (OSError, UnicodeDecodeError):
            continue
        for number, line in enumerate(lines, 1):
            if "vocabulary: ok" in line:
                continue
            for match in expression.finditer(line):
                term = RETIRED[int(match.lastgroup[1:])][1]
                counts[path] += 1
                if "--count" not in sys.argv:
                    print("%s:%d: \"%s\": say %s" % (path, number, match.group(0), term))
    if "--count" in sys.argv:
        for path, count in counts.most_common():
            print("%4d %s" % (count, path))
    print("%d files, %d retired words" % (len(set(files)), sum(counts.values())))
    return 1 if counts else 0


sys.exit(main())
