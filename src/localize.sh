#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Joins the members of an archive into one object and makes the symbols local that are not public.
# usage: localize.sh OBJCOPY ARCHIVE OBJECT OBJCOPY-OPTION C-COMPILER [OPTION ...]
set -eu
objcopy=$1
archive=$2
object=$3
public=$4
shift 4
"$@" -r -nostdlib -o "$object" -Wl,--whole-archive "$archive"
"$objcopy" --wildcard "$public" "$object"
