#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every public header by itself, twice in one file, as C99, C11 and C++17 without a warning, that of C++ as C++17 and C++20; with
# cuda.h before and after it where there is one.
# usage: compile.sh INCLUDE-DIRECTORY C-COMPILER C++-COMPILER|none TOOLKIT-INCLUDE|none
set -u
include=$1
c_compiler=$2
cpp_compiler=$3
toolkit=$4
directory=$(mktemp -d) || exit 1
trap 'rm -r "$directory"' EXIT
strict="-fsyntax-only -Wall -Wextra -Wshadow -Wundef -pedantic-errors -Werror -I$include"
checked=0
failed=0

# check WHAT COMPILER-AND-OPTIONS...: compiles $directory/file.c as what the options say
check() {
    what=$1
    shift
    checked=$((checked + 1))
    if ! "$@" "$directory/file.c" 2>"$directory/log"; then
        failed=$((failed + 1))
        echo "$what:"
        cat "$directory/log"
    fi
}

# mpi.h includes the header of an MPI library: checked where there is one.
mpi=$(pkg-config --cflags-only-I ompi-c 2>/dev/null || pkg-config --cflags-only-I mpich 2>/dev/null) || mpi=none
plain=$strict

for header in "$include"/devicepool.h "$include"/devicepool/*.h; do
    name=${header#"$include"/}
    strict=$plain
    if [ "$name" = devicepool/mpi.h ]; then
        [ "$mpi" = none ] && continue
        strict="$plain $(echo " $mpi" | sed 's/ -I/ -isystem /g')"
    fi
    printf '#include <%s>\n#include <%s>\nextern int unused;\n' "$name" "$name" >"$directory/file.c"
    # shellcheck disable=SC2086
    for standard in c99 c11; do
        check "$name as $standard" $c_compiler -std=$standard -Wstrict-prototypes $strict
    done
    # shellcheck disable=SC2086
    [ "$cpp_compiler" = none ] || check "$name as C++17" $cpp_compiler -x c++ -std=c++17 $strict
    printf '#include <%s>\n' "$name" >>"$directory/all"
    everything="${everything:-} ${strict#"$plain"}"
done

# cuda.h takes longest, so it is compiled with all headers at once.
if [ "$toolkit" != none ]; then
    for order in before after; do
        if [ $order = before ]; then
            (echo '#include <cuda.h>' && cat "$directory/all") >"$directory/file.c"
        else
            (cat "$directory/all" && echo '#include <cuda.h>') >"$directory/file.c"
        fi
        # shellcheck disable=SC2086
        check "all headers, cuda.h $order them, C11" $c_compiler -std=c11 -isystem "$toolkit" $plain $everything
        # shellcheck disable=SC2086
        [ "$cpp_compiler" = none ] ||
            check "all headers, cuda.h $order them, C++17" $cpp_compiler -x c++ -std=c++17 -isystem "$toolkit" $plain \
                $everything
    done
fi

# The header of C++ includes the others.
printf '#include <devicepool/devicepool.hpp>\n#include <devicepool/devicepool.hpp>\nextern int unused;\n' >"$directory/file.c"
if [ "$cpp_compiler" != none ]; then
    for standard in c++17 "c++17 -fno-exceptions" c++20; do
        # shellcheck disable=SC2086
        check "devicepool.hpp as $standard" $cpp_compiler -x c++ -std=$standard $plain
    done
fi

# Every header is in the umbrella; mock.h and mpi.h belong to libraries of their own.
for header in "$include"/devicepool/*.h; do
    case ${header##*/} in mock.h | mpi.h) continue ;; esac
    grep -q "#include <devicepool/$(basename "$header")>" "$include/devicepool.h" || {
        echo "$(basename "$header") is not in devicepool.h"
        failed=$((failed + 1))
    }
done
# And in the table of the README.
for header in "$include"/devicepool/*.h*; do
    grep -q "](include/devicepool/$(basename "$header"))" "$include/../README.md" || {
        echo "$(basename "$header") is not in README.md"
        failed=$((failed + 1))
    }
done
echo "$checked compilations, $failed failures"
[ "$failed" -eq 0 ] && [ "$checked" -gt 0 ]
