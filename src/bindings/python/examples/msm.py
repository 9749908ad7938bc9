# SPDX-License-Identifier: Apache-2.0
"""A multi-scalar multiplication on the next device, checked: msm.py [DEVICES]"""
import sys

import devicepool as dp

with dp.Pool(sys.argv[1] if len(sys.argv) > 1 else None) as pool, pool.acquire(64 << 20) as lease:
    curve = dp.Curve("bn254_g1")
    points, factors = curve.random_points(1000, seed=1)  # point i is factor i times the generator
    scalars = curve.scalars.random(1000, seed=2)
    result = dp.msm(curve, points, scalars, lease=lease)  # on a device with 64 MiB that no other lease has

    numbers = curve.scalars.numbers
    expected = sum(a * b for a, b in zip(numbers(factors), numbers(scalars))) % curve.scalars.modulus
    if result != curve.multiply(curve.generator(), expected):
        sys.exit("the result is wrong")

    with dp.Domain(curve.scalars, 10) as domain:
        elements = curve.scalars.random(1024, seed=3)
        transformed = dp.ntt(domain, elements, lease=lease)
        if dp.ntt(domain, transformed, inverse=True, lease=lease) != elements:
            sys.exit("the inverse transform does not restore the elements")
        try:
            dp.ntt(domain, elements[:32000], lease=lease)  # 1000 elements
        except dp.Error as error:
            print(f"refused: {error.name}: {error.message}")
    print("checked:", result[:32][::-1].hex())
