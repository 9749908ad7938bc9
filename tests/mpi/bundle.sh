#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A directory with what on_gpus.sh needs on a host that has no MPI: the programs of a build with MPICH, its
# mpiexec and its libraries, but for those of the C library. MPICH has no plug-ins that its prefix would have
# to be found for.
#
#   meson setup build/mpich -Dmpi_package=mpich -Dtests=enabled
#   ninja -C build/mpich src/tools/command/devicepool src/mpi/devicepool-mpi tests/mpi/test_ranks_mpich
#   tests/mpi/bundle.sh build/mpich DIRECTORY
# and on the other host
#   LD_LIBRARY_PATH=DIRECTORY/lib tests/mpi/on_gpus.sh DIRECTORY 2 DIRECTORY/bin/mpiexec.hydra
#
# usage: bundle.sh BUILD-DIRECTORY DIRECTORY
set -eu
build=$1
directory=$2
mkdir -p "$directory/bin" "$directory/lib"
hydra=$(command -v mpiexec.hydra)
cp "$build/src/tools/command/devicepool" "$build/src/mpi/devicepool-mpi" "$build/tests/mpi/test_ranks_mpich" \
    "$(readlink -f "$hydra")" "$(dirname "$hydra")/hydra_pmi_proxy" "$directory/bin"
for file in "$directory"/bin/*; do
    ldd "$file" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p'
done | sort -u | grep -v '/lib\(c\|m\|dl\|rt\|pthread\|gcc_s\|stdc++\)\.so' | while read -r library; do
    cp -L "$library" "$directory/lib/$(basename "$library")"
done
strip "$directory"/bin/* 2>/dev/null || true
du -sh "$directory" | cut -f1
