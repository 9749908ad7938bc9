#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The man page is well-formed, and describes the commands and options of the program.
# usage: test_man.sh DEVICEPOOL MAN-PAGE
set -u
tool=$1
page=$2
failed=0
help=$(mktemp) || exit 1
trap 'rm -f "$help"' EXIT

for command in $("$tool" --help | sed -n 's/^  \([a-z][a-z-]*\)  *.*/\1/p'); do
    if ! grep -q "^\.It Cm $command\( \|$\)" "$page"; then
        echo "FAILED: the page does not describe the command '$command'"
        failed=1
    fi
done
# Every option of the page is an option of a command. Those of mpi are devicepool-mpi's, which may not be built.
for command in $("$tool" --help | sed -n 's/^  \([a-z][a-z-]*\)  *.*/\1/p' | grep -v -x mpi); do
    "$tool" "$command" --help
done >"$help"
cat "$(dirname "$page")/../src/mpi/usage.h" >>"$help"
for option in $(grep -o -e 'Fl Fl [a-z-]*' -e ' --[a-z-]*' "$page" | sed 's/Fl Fl /--/' | sort -u); do
    if ! grep -q -e "$option\b" "$help"; then
        echo "FAILED: no command has the option $option"
        failed=1
    fi
done
if ! command -v mandoc >/dev/null; then
    echo "skipped the rest: mandoc is not installed"
    [ $failed = 0 ] && exit 77
    exit $failed
fi
mandoc -Tlint -Wwarning "$page" || failed=1
exit $failed
