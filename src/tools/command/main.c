/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devicepool command: the table of its commands, and their dispatch.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

#define DEVICES_NOTE                                                                               \
    "CUDA_VISIBLE_DEVICES is respected; DEVICEPOOL_DEVICES is the default of\n"                    \
    "--devices.\n"

const struct cli_command cli_commands[] = {
    {"devices", 0, 0, "", CLI_TAKES_DEVICES | CLI_TAKES_JSON | CLI_TAKES_TIMEOUT,
        "show the devices of a pool and the links between them", DEVICES_NOTE, cli_run_devices},
    {"demo", 0, 0, "", CLI_TAKES_DEVICES | CLI_TAKES_JSON | CLI_TAKES_TIMEOUT,
        "run checked example jobs on every device",
        "Commits to blobs over Ethereum's KZG setup, evaluates polynomials at the tau of\n"
        "a ceremony in two ways and builds a Poseidon Merkle tree, distributed over all\n"
        "devices with one thread per device. Each result is compared with a published\n"
        "one, or by an identity that holds only for correct results. Without a GPU and\n"
        "without --devices it uses two simulated devices.\n",
        cli_run_demo},
    {"list", 1, 1, "fields|curves|sets", CLI_TAKES_JSON,
        "list the names that other commands accept", "", cli_run_list},
    {"info", 1, 1, "FILE", CLI_TAKES_JSON,
        "show the sections of a file of points, keys or witnesses",
        "Reads ptau, zkey, wtns, r1cs and Ethereum's KZG setup (text or JSON).\n", cli_run_info},
    {"msm", 2, 2, "POINTS SCALARS", CLI_TAKES_DEVICES | CLI_TAKES_JSON | CLI_TAKES_TIMEOUT,
        "compute an MSM over points and scalars from files",
        "POINTS is ptau:FILE:tauG1, ptau:FILE:lagrange:8 (2^8 points), zkey:FILE:A (B1,\n"
        "B2, C, H), kzg:FILE:lagrange or kzg:FILE:monomial, or a raw file. SCALARS is\n"
        "wtns:FILE or a raw file. 'devicepool info FILE' shows the sections of a file. If\n"
        "there are more points than scalars, the first points are used. The result is\n"
        "printed in affine coordinates and, if the encoding is defined for the curve, as\n"
        "a compressed point.\n"
        "\n"
        "  devicepool msm zkey:circuit.zkey:A wtns:witness.wtns\n"
        "  devicepool msm kzg:trusted_setup.txt:lagrange blob --big-endian --bit-reverse\n",
        cli_run_msm},
    {"ntt", 1, 1, "FILE", CLI_TAKES_DEVICES | CLI_TAKES_JSON | CLI_TAKES_TIMEOUT,
        "transform a file of elements or points",
        "FILE is a raw file (packed elements or, with --curve, points, little-endian),\n"
        "wtns:FILE, or points of another file, such as ptau:FILE:lagrange:8. Without\n"
        "--output the values or the coordinates x, y are printed, one element per line.\n"
        "Elements must be below the modulus, points in the subgroup of the generator.\n"
        "\n"
        "  devicepool ntt values.bin --field bls12_381_fr --inverse -o coefficients.bin\n",
        cli_run_ntt},
    {"poseidon", 2, 2, "hash|permute|sponge|tree FILE",
        CLI_TAKES_DEVICES | CLI_TAKES_JSON | CLI_TAKES_TIMEOUT,
        "hash a file, or build a Merkle tree over it",
        "FILE is a raw file (packed elements, little-endian) or wtns:FILE.\n"
        "  hash     one digest per item of --elements elements\n"
        "  permute  the permutation of each item, which is a state\n"
        "  sponge   one digest per item of any length; by default the file is one item\n"
        "  tree     the root of the Merkle tree whose leaves are the items\n"
        "\n"
        "  devicepool poseidon tree --bytes photo.jpg --set poseidon2-horizen-bn254-t3\n",
        cli_run_poseidon},
    {"prove", 4, 4, "KEY WITNESS PROOF PUBLIC",
        CLI_TAKES_DEVICES | CLI_TAKES_JSON | CLI_TAKES_TIMEOUT,
        "create a Groth16 proof from snarkjs files",
        "KEY is a zkey and WITNESS a wtns, over BN254, BLS12-381 or BLS12-377. PROOF and\n"
        "PUBLIC are written in the format of snarkjs' proof.json and public.json. The\n"
        "blinding factors come from the operating system, so no two proofs are equal. The\n"
        "files do not show whether the witness satisfies the circuit: verify the proof.\n"
        "\n"
        "  devicepool prove circuit.zkey witness.wtns proof.json public.json\n"
        "  snarkjs groth16 verify verification_key.json public.json proof.json\n",
        cli_run_prove},
    {"warm-up", 1, CLI_MAX_NAMES, "NAME...", CLI_TAKES_DEVICES | CLI_TAKES_JSON | CLI_TAKES_TIMEOUT,
        "compile the kernels of fields, curves and parameter sets",
        "The kernels are compiled for the chips of the devices and stored in the disk\n"
        "cache (see 'devicepool cache'), so that later jobs start without compiling. With\n"
        "--chip they are compiled for chips that need not be there, and written as packs,\n"
        "files with the kernels of one chip. DEVICEPOOL_CACHE_LEVELS names directories in\n"
        "which pools look for them. That needs NVRTC, but neither a driver nor a device.\n"
        "The name 'all' stands for every built-in one.\n"
        "\n"
        "  devicepool warm-up bn254_fr bn254_g1 circom-bn254-t3\n"
        "  devicepool warm-up --chip 80,90,120 --output packs bn254_fr bn254_g1\n",
        cli_run_warm_up},
    {"bench", 0, 1,
        "msm|ntt|extend|ecntt|poseidon|tree|commit|fold|evaluate|reverse|vector|copy|pool|"
        "share|"
        "GROUPS",
        CLI_TAKES_DEVICES | CLI_TAKES_JSON | CLI_TAKES_TIMEOUT,
        "measure an operation on each device",
        "Every result is checked: MSMs by points of known discrete logarithm, transforms\n"
        "and extensions by evaluation at a random point, folds, evaluations and vectors\n"
        "by plain arithmetic, hashes by a sample recomputed on the host, copies and rows\n"
        "byte by byte. The first use, which compiles, is timed separately. The median of\n"
        "an even number of runs is the mean of the middle two. A wrong result or a device\n"
        "that hangs gives exit code 3. --suite measures the rows of docs/performance.md\n"
        "on the first device, or the groups of them that are named: with best figures of\n"
        "other libraries, targets and, with --compare, earlier figures. Ctrl-C ends it\n"
        "after the current run, and prints what was measured. share measures the latency\n"
        "of short jobs that arrive at random times, alone and beside long ones, on the\n"
        "first device, all under leases: from the scheduled arrival until the result is\n"
        "in host memory. Its jobs are msm, ntt, poseidon, open, tree, extend and, as a\n"
        "long one, groth16.\n"
        "\n"
        "  devicepool bench --suite msm,ntt --output report.json\n"
        "  devicepool bench ntt -s 2^16..2^24 -f bn254_fr,goldilocks --plot ntt.svg\n"
        "  devicepool bench share --short msm:2^12 --long msm:2^24,ntt:2^26\n",
        cli_run_bench},
    {"tune", 0, 0, "", CLI_TAKES_DEVICES | CLI_TAKES_JSON | CLI_TAKES_TIMEOUT,
        "measure what is fastest on a device, for pools to use",
        "Measures window bits, table factor and affine passes of MSMs, passes and tiles\n"
        "of NTTs, threads per state of Poseidon, and chunks of copies. Runs of the\n"
        "default and of a candidate alternate; a candidate is chosen if its result is\n"
        "that of the default, and if its median is at least 3 % shorter, twice. The\n"
        "numbers are written at the end, to the file that pools on this chip read\n"
        "(DEVICEPOOL_TUNING); numbers of operations that are not measured stay, all\n"
        "others become winners or defaults. DEVICEPOOL_TUNING=off disables tuning\n"
        "parameters. Times of simulated devices mean nothing.\n"
        "\n"
        "  devicepool tune --operation msm --subject bls12_381_g1 --seconds 300\n",
        cli_run_tune},
    {"selftest", 0, 0, "", CLI_TAKES_DEVICES | CLI_TAKES_JSON | CLI_TAKES_TIMEOUT,
        "run known-answer tests on each device",
        "Vector operations and transforms over every field, MSMs on every curve, every\n"
        "Poseidon parameter set and all kinds of copies are compared with answers that\n"
        "were computed without the library. The exit code is that of the first failure: 3\n"
        "for a device that computes wrong results or hangs.\n",
        cli_run_selftest},
    {"cache", 0, CLI_MAX_NAMES, "[list|verify|clear|path|levels|pack|unpack] [FILE...]",
        CLI_TAKES_JSON, "inspect or clear the disk cache of compiled kernels",
        "  list     lists all entries, including damaged ones (default)\n"
        "  verify   reads all entries and deletes the damaged ones\n"
        "  clear    deletes all entries\n"
        "  path     prints the directory\n"
        "  levels   lists the packs of directories that are only read, with their use\n"
        "  pack DIRECTORY  writes the entries to DIRECTORY/sm_90.pack, a file per chip\n"
        "  unpack FILE...  copies the entries of packs to the cache\n"
        "  verify FILE...  reads all entries of packs\n"
        "\n"
        "DEVICEPOOL_CACHE_DIR sets the directory, DEVICEPOOL_CACHE=off disables the\n"
        "cache, DEVICEPOOL_CACHE_MAX (for example 512M) limits its size.\n"
        "DEVICEPOOL_CACHE_LEVELS names directories of packs, separated by colons.\n",
        cli_run_cache},
    {"top", 1, 1, "SOCKET", CLI_TAKES_JSON, "show what the pool of a running service is doing",
        "SOCKET is the status socket that the service's pool opens\n"
        "(pool_params.status_socket). On a terminal the devices, their memory, work and\n"
        "rates are shown every second until q or Ctrl-C. Otherwise, and with --json, one\n"
        "snapshot is printed as JSON.\n"
        "\n"
        "With --web the page shows the same in a browser, and snapshot.json is a\n"
        "snapshot. Everyone who reaches the address can read it: by default the users and\n"
        "containers of this host that share its loopback device. There is no encryption\n"
        "and no login.\n"
        "\n"
        "  devicepool top /run/prover/devicepool.sock\n"
        "  devicepool top --web 8080 /run/prover/devicepool.sock\n",
        cli_run_top},
    {"sim", 0, 0, "-- PROGRAM [ARGUMENT...]", CLI_TAKES_DEVICES,
        "run a program that was built for a GPU on simulated devices",
        "PROGRAM uses the CUDA driver API (libcuda.so.1), which simulated devices answer:\n"
        "its kernels are PTX, or fat binaries with PTX, and run on the processor. What is\n"
        "not simulated returns CUDA_ERROR_NOT_SUPPORTED and is named on standard error\n"
        "(not with -q). Programs that use the CUDA runtime library (libcudart) do not\n"
        "run. The exit code is that of the program, or 127 if there is none.\n"
        "DEVICEPOOL_SIM is the default of --devices.\n"
        "\n"
        "  devicepool sim --devices sim:2,cc=90 -- python3 saxpy.py\n",
        cli_run_sim},
    {"mpi", 1, CLI_MAX_NAMES, "info|demo|msm|ntt|bench", 0,
        "run an operation over the ranks of an MPI job", "", cli_run_mpi},
    {"completion", 1, 1, "bash|zsh|fish", 0, "print the completion script of a shell",
        "The scripts are installed with the command. Without that, in ~/.bashrc or\n"
        "~/.zshrc, and in fish:\n"
        "\n"
        "  eval \"$(devicepool completion bash)\"\n"
        "  devicepool completion fish >~/.config/fish/completions/devicepool.fish\n",
        cli_run_completion},
    {"version", 0, 0, "", CLI_TAKES_JSON | CLI_TAKES_TIMEOUT,
        "show the versions of library, driver and compiler, or the settings",
        "Settings are environment variables named DEVICEPOOL_…, and lines NAME=VALUE of\n"
        "the file that DEVICEPOOL_CONFIG names, by default /etc/devicepool.conf. The\n"
        "environment precedes the file.\n"
        "\n"
        "  devicepool version --config\n",
        cli_run_version},
};
const size_t cli_command_count = CLI_COUNT_OF(cli_commands);

static void print_overview(FILE *out)
{
    fprintf(out, "usage: devicepool COMMAND [OPTIONS]\n\n"
                 "Zero-knowledge cryptography on a pool of CUDA devices.\n\n");
    for (size_t i = 0; i < cli_command_count; i++)
        fprintf(out, "  %-10s  %s\n", cli_commands[i].name, cli_commands[i].summary);
    fprintf(out, "\n'devicepool COMMAND --help' explains a command. Exit codes: 0 success,\n"
                 "1 failure, 2 invalid command line, 3 device unusable, hanging or wrong,\n"
                 "4 driver, device or compiler missing on this host, 5 sticky device fault,\n"
                 "6 defect of the library.\n");
}

static int run_command(const char *name, int count, char **arguments)
{
    static char title[64];
    struct cli_match match = {0};

    for (size_t i = 0; i < cli_command_count; i++) {
        if (strcmp(cli_commands[i].name, name) != 0)
            continue;
        /* getopt begins its messages with the name of the program, which is two words here. */
        snprintf(title, sizeof(title), "devicepool %s", name);
        arguments[0] = title;
        return cli_commands[i].run(
            &cli_commands[i], &(struct cli_line){.count = count, .arguments = arguments});
    }
    for (size_t i = 0; i < cli_command_count; i++)
        cli_match_name(name, cli_commands[i].name, &match);
    cli_fail_with(
        "no command '%s'%s; 'devicepool --help' lists them", name, cli_suggestion(&match));
    return CLI_USAGE;
}

static int dispatch_command(int count, char **arguments)
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
        cli_fail_with("%s takes no argument '%s'", arguments[1], arguments[count - 1]);
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

/* Output that was lost, for example on a full disk, is a failure. */
int main(int count, char **arguments)
{
    int code = dispatch_command(count, arguments);

    if ((fflush(stdout) || ferror(stdout)) && code == CLI_OK)
        code = cli_fail_with("standard output cannot be written: %s", strerror(errno));
    return code;
}
