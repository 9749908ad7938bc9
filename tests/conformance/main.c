/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: conformance --device DEVICE [--group GROUP] [--only TEXT] [--digests FILE] [--write FILE]
 *        [--keep FILE]
 * Runs the groups (all, or the one named) on the device ("sim", "0", …), compares every result with
 * C and the results' digests with those of FILE. exit 77: no device or no NVRTC here.
 */
#include "conformance.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77 };

void must(pool_status status)
{
    if (!status)
        return;
    printf("%s: %s\n", pool_status_name(status), pool_last_error()->message);
    exit(pool_status_class(status) == POOL_CLASS_HOST ? SKIPPED : 1);
}

static int run(struct runner *runner, const char *wanted)
{
    int found = 0;

    for (size_t i = 0; i < group_count; i++) {
        unsigned run = runner->run, failed = runner->failed;

        if (wanted && strcmp(wanted, groups[i]->name) != 0)
            continue;
        found = 1;
        run_lanes(runner, groups[i]);
        run_programs(runner, groups[i]);
        printf("%s: %u cases, %u failed\n", groups[i]->name, runner->run - run,
            runner->failed - failed);
        fflush(stdout);
    }
    if (!found)
        printf("no group is called %s\n", wanted);
    return !found || runner->failed || !runner->run;
}

int main(int count, char **arguments)
{
    static const struct option options[] = {{"device", 1, NULL, 'd'}, {"group", 1, NULL, 'g'},
        {"only", 1, NULL, 'o'}, {"digests", 1, NULL, 'c'}, {"write", 1, NULL, 'w'},
        {"keep", 1, NULL, 'k'}, {NULL, 0, NULL, 0}};
    pool_params params = {.struct_size = sizeof(params), .devices = "sim"};
    struct runner runner = {0};
    const char *group = NULL;
    device_pool *pool;
    int option, failed;

    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) {
        if (option == 'd')
            params.devices = optarg;
        else if (option == 'g')
            group = optarg;
        else if (option == 'o')
            runner.only = optarg;
        else if (option == '?' || (option == 'c' && digests_read(optarg)) ||
                 (option == 'w' && digests_write_to(optarg)) ||
                 (option == 'k' && digests_keep(optarg)))
            return 2;
    }
    must(pool_create(&pool, &params));
    must(pool_device_at(pool, 0, &runner.device));
    failed = run(&runner, group);
    must(pool_destroy(&pool));
    digests_close();
    input_free();
    return failed;
}
