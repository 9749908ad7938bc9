# SPDX-License-Identifier: Apache-2.0
"""A multi-scalar multiplication on the next device, checked: msm.py [DEVICES]"""
import sys

import devicepool as dp

with dp.Pool(sys.argv[1] if len(sys.argv) > 1 else None) as pool:
    curve = dp.Curve("bn254_g1")
    points, factors = curve.random_points(1000, seed=1)  # point i is factor i times the generator
    scalars = curve.scalars.random(1000, seed=2)
    result = dp.msm(curve, points, scalars, device=pool.next())

    numbers = curve.scalars.numbers
    expected = sum(a * b for a, b in zip(numbers(factors), numbers(scalars))) % curve.scalars.modulus
    if result != curve.multiply(curve.generator(), expected):
        sys.exit("the result is wrong")
    print("checked:", result[:32][::-1].hex())
