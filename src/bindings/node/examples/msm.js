// SPDX-License-Identifier: Apache-2.0
// A multi-scalar multiplication on the next device, checked: node msm.js [DEVICES]
'use strict';
const dp = require('..');

async function main() {
  const pool = new dp.Pool(process.argv[2]);
  const curve = new dp.Curve('bn254_g1');
  const { points, scalars: factors } = curve.randomPoints(1000, 1); // point i is factor i times the generator
  const scalars = curve.scalars.random(1000, 2);
  const sum = await dp.msm(curve, points, scalars, { device: pool.next() });

  const [a, b] = [curve.scalars.numbers(factors), curve.scalars.numbers(scalars)];
  const expected = a.reduce((total, factor, i) => total + factor * b[i], 0n) % curve.scalars.modulus;
  if (!sum.equals(curve.multiply(curve.generator(), expected))) throw new Error('the result is wrong');
  console.log('checked:', Buffer.from(sum.subarray(0, 32)).reverse().toString('hex'));
  pool.close();
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
