/* SPDX-License-Identifier: Apache-2.0 */
/* The help of devicepool-mpi, which 'devicepool mpi' runs. */
#ifndef MPI_USAGE_H
#define MPI_USAGE_H

#define MPI_USAGE                                                                              \
    "usage: mpirun -n RANKS devicepool mpi COMMAND [OPTIONS] [FILES]\n\n"                          \
    "Operations over the ranks of an MPI job, each with a device of its host.\n\n"                 \
    "  info       devices, transports and MPI of every rank\n"                                     \
    "  demo       a small job of every operation, checked\n"                                       \
    "  msm        one MSM over 2^LOG random points of all ranks, checked; or over the points\n"    \
    "             and scalars of two raw files: msm POINTS SCALARS\n"                              \
    "  ntt        one transform of 2^LOG random elements and its inverse, which must return\n"     \
    "             them; or the transform of a raw file: ntt FILE --output FILE\n"                  \
    "  bench      both with random data, or: bench msm|ntt; the median of five calls\n\n"          \
    "  -d, --devices DEVICES   of each rank, as for other commands; a rank takes the one of its\n" \
    "                          number on its host\n"                                               \
    "  -n, --log-size LOG      2^LOG points or elements in all; default 20\n"                      \
    "  -c, --curve CURVE       default bn254_g1\n"                                                 \
    "  -f, --field FIELD       default bn254_fr\n"                                                 \
    "  -o, --output FILE       of ntt FILE: the transform, in natural order\n"                     \
    "      --inverse           of ntt FILE\n"                                                      \
    "      --device-memory     random points, scalars and elements are in device memory\n"         \
    "      --timeout SECONDS   without an answer of another rank; default 120\n"                   \
    "  -h, --help              print this help\n\n"                                                \
    "Files are read in parallel, each rank its part, by MPI-IO: they have to be at the same "      \
    "path\n"                                                                                       \
    "on all hosts, and the output on a file system that the hosts share. Raw files hold packed\n"  \
    "little-endian elements or affine points in standard form.\n"                                  \
    "DEVICEPOOL_MPI_TRANSPORT=host|cuda|nccl forces a transport; DEVICEPOOL_NCCL is the path of\n" \
    "libnccl.so.2. The program devicepool-mpi is installed where the library is built with MPI.\n"

#endif
