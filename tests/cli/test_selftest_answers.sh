#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# src/tools/command/selftest_answers.c has to be the output of selftest_answers.py.
# usage: test_selftest_answers.sh SOURCE-ROOT
root=$1
python3 "$root/tests/cli/selftest_answers.py" "$root" | diff - "$root/src/tools/command/selftest_answers.c"
