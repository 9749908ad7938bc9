/* SPDX-License-Identifier: Apache-2.0 */
/* A multi-scalar multiplication on the next device, checked: msm [DEVICES] */
#include <cstdio>
#include <devicepool/devicepool.hpp>

namespace dp = devicepool;

int main(int argc, char **argv)
{
    auto pool = dp::pool::create(argc > 1 ? argv[1] : nullptr).value();
    auto curve = dp::curve::named("bn254_g1").value();
    auto points =
        curve.random_points(1000, 1).value(); /* .second: by which scalars of the generator */
    auto scalars = curve.scalar_field().random(1000, 2).value();

    auto sum = dp::msm(curve, points.first, scalars, pool.next().value());
    if (!sum) {
        std::fprintf(stderr, "%s: %s\n", sum.error().name(), sum.error().message.c_str());
        return 1;
    }

    /* The same on the host, one point after another. */
    dp::bytes expected(curve.point_bytes());
    for (std::size_t i = 0; i < 1000; i++) {
        dp::bytes point(&points.first[64 * i], &points.first[64 * i] + 64);
        dp::bytes scalar(&scalars[32 * i], &scalars[32 * i] + 32);
        expected = curve.add(expected, curve.multiply(point, scalar).value()).value();
    }
    if (*sum != expected)
        return 1;
    std::printf("checked: ");
    for (int i = 31; i >= 0; i--)
        std::printf("%02x", (*sum)[static_cast<std::size_t>(i)]);
    std::printf("\n");
    return 0;
}
