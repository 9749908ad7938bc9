/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chips that can be simulated.
 */
#include "driver/sim/table/chip.h"

#include <stddef.h>

/*
 * Sizes, threads and blocks are taken from the programming guide. Clocks, bus width and L2 size
 * are those of one common product of that capability; the simulation's speed does not depend on
 * them.
 */
static const struct sim_chip chips[] = {
    {60, "Simulated device (cc 6.0)", 65536, 49152, 65536, 0, 256, 2048, 32, 1328500, 715000, 4096,
        4 << 20, 2},
    {61, "Simulated device (cc 6.1)", 65536, 49152, 98304, 0, 256, 2048, 32, 1582000, 5505000, 352,
        2816 << 10, 32},
    {62, "Simulated device (cc 6.2)", 32768, 49152, 65536, 0, 256, 2048, 32, 1300500, 1866000, 128,
        512 << 10, 32},
    {70, "Simulated device (cc 7.0)", 65536, 98304, 98304, 0, 256, 2048, 32, 1380000, 877000, 4096,
        6 << 20, 2},
    {72, "Simulated device (cc 7.2)", 65536, 98304, 98304, 0, 256, 2048, 32, 1377000, 2133000, 256,
        512 << 10, 32},
    {75, "Simulated device (cc 7.5)", 65536, 65536, 65536, 0, 256, 1024, 16, 1590000, 5001000, 256,
        4 << 20, 32},
    {80, "Simulated device (cc 8.0)", 65536, 166912, 167936, 1024, 128, 2048, 32, 1410000, 1215000,
        5120, 40 << 20, 2},
    {86, "Simulated device (cc 8.6)", 65536, 101376, 102400, 1024, 128, 1536, 16, 1695000, 9751000,
        384, 6 << 20, 64},
    {87, "Simulated device (cc 8.7)", 65536, 166912, 167936, 1024, 128, 1536, 16, 1300000, 3199000,
        256, 4 << 20, 64},
    {89, "Simulated device (cc 8.9)", 65536, 101376, 102400, 1024, 128, 1536, 24, 2520000, 10501000,
        384, 72 << 20, 64},
    {90, "Simulated device (cc 9.0)", 65536, 232448, 233472, 1024, 128, 2048, 32, 1980000, 3201000,
        6144, 60 << 20, 2},
    {100, "Simulated device (cc 10.0)", 65536, 232448, 233472, 1024, 128, 2048, 32, 1965000,
        3996000, 8192, 126 << 20, 2},
    {103, "Simulated device (cc 10.3)", 65536, 232448, 233472, 1024, 128, 2048, 32, 1920000,
        3996000, 8192, 126 << 20, 64},
    {110, "Simulated device (cc 11.0)", 65536, 232448, 233472, 1024, 128, 1536, 24, 1575000,
        4266000, 256, 32 << 20, 64},
    {120, "Simulated device (cc 12.0)", 65536, 101376, 102400, 1024, 128, 1536, 24, 2407000,
        14001000, 512, 96 << 20, 64},
    {121, "Simulated device (cc 12.1)", 65536, 101376, 102400, 1024, 128, 1536, 24, 2418000,
        4266000, 256, 24 << 20, 64},
};

const struct sim_chip *sim_chip_find(uint32_t capability)
{
    for (size_t at = 0; at < sizeof(chips) / sizeof(chips[0]); at++) {
        if (chips[at].capability == capability)
            return &chips[at];
    }
    return NULL;
}

const char *sim_chip_list(void)
{
    return "60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121";
}

uint32_t sim_chip_newest_ptx(uint32_t cuda_version)
{
    static const struct {
        uint32_t cuda, ptx;
    } versions[] = {
        {11000, 70},
        {11010, 71},
        {11020, 72},
        {11030, 73},
        {11040, 74},
        {11050, 75},
        {11060, 76},
        {11070, 77},
        {11080, 78},
        {12000, 80},
        {12010, 81},
        {12020, 82},
        {12030, 83},
        {12040, 84},
        {12050, 85},
        {12060, 85},
        {12070, 86},
        {12080, 87},
        {12090, 88},
        {13000, 90},
    };

    for (size_t at = 0; at < sizeof(versions) / sizeof(versions[0]); at++)
        if (versions[at].cuda == cuda_version)
            return versions[at].ptx;
    return 0;
}
