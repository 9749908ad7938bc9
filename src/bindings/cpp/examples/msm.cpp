/* SPDX-License-Identifier: Apache-2.0 */
/* A multi-scalar multiplication and a transform under a lease, checked: msm [DEVICES] */
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

    /* A device with 64 MiB that no other lease has; waits until there is one. */
    dp::request request;
    request.bytes = 64 << 20;
    auto lease = pool.acquire(request).value();

    auto sum = dp::msm(curve, points.first, scalars, lease);
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

    /* A transform, and the inverse one, which restores the elements. */
    auto field = curve.scalar_field();
    auto domain = dp::domain::create(field, 10).value();
    auto inverse = dp::params<pool_ntt_params>();
    auto elements = field.random(1024, 3).value(), transformed = elements;
    inverse.direction = POOL_NTT_INVERSE;
    dp::ntt(domain, transformed, transformed, lease).value();
    dp::ntt(domain, transformed, transformed, lease, inverse).value();
    if (transformed != elements)
        return 1;

    /* A call that is refused says why. */
    elements.resize(1000 * field.element_bytes());
    auto refused = dp::ntt(domain, elements, elements, lease);
    std::printf("refused: %s: %s\n", refused.error().name(), refused.error().message.c_str());

    std::printf("checked: ");
    for (int i = 31; i >= 0; i--)
        std::printf("%02x", (*sum)[static_cast<std::size_t>(i)]);
    std::printf("\n");
    return 0;
}
