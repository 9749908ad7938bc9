/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devicepool command: finds the subcommand and hands over.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

#define DEVICES_NOTE                                                                               \
    "CUDA_VISIBLE_DEVICES is respected, DEVICEPOOL_DEVICES gives the default for --devices.\n"

const struct cli_command cli_commands[] = {
    {"devices", "", "the devices of a pool and how they are linked", DEVICES_NOTE, cli_run_devices},
    {"demo", "", "real work on every device of this host, done right",
        "Commits to blobs over the KZG setup of Ethereum, evaluates polynomials at the tau of a\n"
        "ceremony in two ways, builds a Poseidon tree; spread over all devices, a thread a "
        "device.\n"
        "Each result is compared with a published one, or with an identity that only true data\n"
        "obey. Without a GPU, and without --devices, two simulated devices are taken.\n",
        cli_run_demo},
    {"list", "fields|curves|sets", "the names that other commands take", "", cli_run_list},
    {"info", "FILE", "what a file of points, keys or witnesses has in it",
        "Reads ptau, zkey, wtns, r1cs and Ethereum's KZG setup (text or JSON).\n", cli_run_info},
    {"msm", "POINTS SCALARS", "the sum of scalars times points, from files",
        "POINTS is ptau:FILE:tauG1, ptau:FILE:lagrange:8 (2^8 points), zkey:FILE:A (B1, B2, C, "
        "H),\n"
        "kzg:FILE:lagrange or kzg:FILE:monomial, or a raw file. SCALARS is wtns:FILE or a raw "
        "file.\n"
        "'devicepool info FILE' shows the sections of a file. There may be more points than\n"
        "scalars: the first ones are taken. The sum is printed in affine coordinates and, where\n"
        "the curve has it, as a compressed point.\n"
        "\n"
        "  devicepool msm zkey:circuit.zkey:A wtns:witness.wtns\n"
        "  devicepool msm kzg:trusted_setup.txt:lagrange blob --big-endian --bit-reverse\n",
        cli_run_msm},
    {"ntt", "FILE", "transforms a file of elements",
        "FILE is a raw file (packed elements, little-endian) or wtns:FILE. Without --output the\n"
        "values are printed, one a line. Elements that are not below the modulus are refused.\n"
        "\n"
        "  devicepool ntt values.bin --field bls12_381_fr --inverse --output coefficients.bin\n",
        cli_run_ntt},
    {"poseidon", "hash|permute|sponge|tree FILE", "hashes and Merkle trees of a file",
        "FILE is a raw file (packed elements, little-endian) or wtns:FILE.\n"
        "  hash     one digest for each item of --elements elements\n"
        "  permute  each item is a state, and so is each result\n"
        "  sponge   the same for items of any length, by default one digest of all\n"
        "  tree     the root of the Merkle tree whose leaves are the items\n"
        "\n"
        "  devicepool poseidon tree --bytes photo.jpg --set poseidon2-horizen-bn254-t3\n",
        cli_run_poseidon},
    {"prove", "KEY WITNESS PROOF PUBLIC", "a Groth16 proof from snarkjs' files",
        "KEY is a zkey and WITNESS a wtns, over BN254, BLS12-381 or BLS12-377. PROOF and PUBLIC "
        "are\n"
        "written as snarkjs writes proof.json and public.json. The blinding factors come from the\n"
        "operating system, so that no two proofs are equal. The files do not show whether the\n"
        "witness satisfies the circuit: verify the proof.\n"
        "\n"
        "  devicepool prove circuit.zkey witness.wtns proof.json public.json\n"
        "  snarkjs groth16 verify verification_key.json public.json proof.json\n",
        cli_run_prove},
    {"warm-up", "NAME...", "compiles what fields, curves and sets need, before a job waits",
        "The compiled kernels go into the disk cache (see 'devicepool cache'), for the chips of\n"
        "the devices.\n"
        "\n"
        "  devicepool warm-up bn254_fr bn254_g1 circom-bn254-t3\n",
        cli_run_warm_up},
    {"bench", "msm|ntt|poseidon|copy|pool", "how fast an operation is on each device",
        "Every row is of a result that was checked: sums are of points of known logarithms,\n"
        "transforms are evaluated at a random point, a sample of hashes is computed again on the\n"
        "host, copies are compared byte by byte. The first use, which compiles, is timed apart. "
        "The\n"
        "median of an even number of runs is the mean of the middle two. A wrong result, or a\n"
        "device that hangs, ends with exit code 3.\n"
        "\n"
        "  devicepool bench ntt --sizes 2^16..2^24 --field bn254_fr,goldilocks --plot ntt.svg\n",
        cli_run_bench},
    {"selftest", "", "known answers of everything on each device",
        "Vectors and transforms over every field, sums on every curve, every Poseidon set and\n"
        "copies of all kinds are\n"
        "compared with answers that were computed without the library. The exit code is that of\n"
        "the first failure: 3 for a device that computes wrongly or hangs.\n",
        cli_run_selftest},
    {"cache", "[list|verify|clear|path]", "the disk cache of compiled kernels",
        "  list    every entry, damaged ones included (default)\n"
        "  verify  reads every entry and deletes the damaged\n"
        "  clear   deletes every entry\n"
        "  path    the folder\n"
        "\n"
        "DEVICEPOOL_CACHE_DIR names the folder, DEVICEPOOL_CACHE=off switches the cache off,\n"
        "DEVICEPOOL_CACHE_MAX (for example 512M) caps its size.\n",
        cli_run_cache},
    {"version", "", "versions of the library, the driver and the compiler", "", cli_run_version},
};
const size_t cli_command_count = sizeof(cli_commands) / sizeof(cli_commands[0]);

static void print_overview(FILE *out)
{
    fprintf(out, "usage: devicepool COMMAND [OPTIONS]\n\n"
                 "A pool of CUDA devices for zero-knowledge work on GPUs.\n\n");
    for (size_t i = 0; i < cli_command_count; i++)
        fprintf(out, "  %-10s %s\n", cli_commands[i].name, cli_commands[i].summary);
    fprintf(out,
        "\n'devicepool COMMAND --help' explains one. Exit codes: 0 done, 1 failed, 2 wrong\n"
        "usage, 3 device unusable or wrong, 4 driver, device or compiler missing on this\n"
        "host, 5 sticky device fault, 6 defect of the library.\n");
}

static int run_command(const char *name, int count, char **arguments)
{
    static char title[64];

    for (size_t i = 0; i < cli_command_count; i++) {
        if (strcmp(cli_commands[i].name, name) != 0)
            continue;
        /* getopt's messages begin with the name of the program: both words of it. */
        snprintf(title, sizeof(title), "devicepool %s", name);
        arguments[0] = title;
        return cli_commands[i].run(&cli_commands[i], count, arguments);
    }
    fprintf(stderr, "devicepool: there is no command '%s'; 'devicepool --help' lists them\n", name);
    return CLI_USAGE;
}

static int run_line(int count, char **arguments)
{
    static char help[] = "--help";
    int is_help;

    if (count < 2) {
        print_overview(stderr);
        return CLI_USAGE;
    }
    is_help = strcmp(arguments[1], "--help") == 0 || strcmp(arguments[1], "-h") == 0 ||
              strcmp(arguments[1], "help") == 0;
    if (is_help && count > (*arguments[1] == '-' ? 2 : 3)) {
        fprintf(
            stderr, "devicepool: %s takes no argument '%s'\n", arguments[1], arguments[count - 1]);
        return CLI_USAGE;
    }
    if (strcmp(arguments[1], "--version") == 0)
        return run_command("version", count - 1, arguments + 1);
    if (!is_help)
        return run_command(arguments[1], count - 1, arguments + 1);
    if (count == 3)
        return run_command(arguments[2], 2, (char *[]){help, help, NULL});
    print_overview(stdout);
    return CLI_OK;
}

/* What was printed has to have arrived, on a full disk for example. */
int main(int count, char **arguments)
{
    int code = run_line(count, arguments);

    if ((fflush(stdout) || ferror(stdout)) && code == CLI_OK)
        code = cli_fail_with("standard output cannot be written: %s", strerror(errno));
    return code;
}
