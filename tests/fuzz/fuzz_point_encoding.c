/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arbitrary encoded points. The first byte is the curve, the second the encoding and checks; the
 * rest is one point or several. Accepted points must satisfy the requested checks and encode to
 * exactly the same bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <devicepool/curve.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t checks[] = {
        POOL_CHECK_CANONICAL, POOL_CHECK_ON_CURVE, POOL_CHECK_SUBGROUP, POOL_CHECK_ON_CURVE};
    const pool_curve *curve;
    pool_encoding encoding;
    uint32_t check;
    size_t width, count;
    uint8_t *points, *again;

    if (size < 2)
        return 0;
    curve = pool_curve_at(data[0] % pool_curve_count());
    encoding = (pool_encoding)(data[1] % 4 + data[1] / 16 % 2 * 4);
    check = checks[data[1] / 4 % 4];
    width = pool_encoding_bytes(curve, encoding);
    count = width ? (size - 2) / width : 0;
    if (count > 4)
        count = 4;
    if (!count)
        return 0;
    points = malloc(count * pool_point_bytes(curve, POOL_POINT_AFFINE));
    again = malloc(count * width);
    if (!points || !again)
        abort();
    if (!pool_points_decode(curve, encoding, 0, data + 2, count, check, NULL, points)) {
        if (pool_points_check(curve, NULL, points, count, check, NULL) ||
            pool_points_encode(curve, NULL, points, count, encoding, 0, again) ||
            memcmp(again, data + 2, count * width))
            abort();
    }
    free(again);
    free(points);
    return 0;
}
