// SPDX-License-Identifier: Apache-2.0
// A multi-scalar multiplication and a transform under a lease, checked: node msm.js [DEVICES]
'use strict';
const dp = require('..');

async function main() {
  const pool = new dp.Pool(process.argv[2]);
  const curve = new dp.Curve('bn254_g1');
  const { points, scalars: factors } = curve.randomPoints(1000, 1); // point i is factor i times the generator
  const scalars = curve.scalars.random(1000, 2);
  const lease = await pool.acquire({ bytes: 64 * 2 ** 20 }); // a device with 64 MiB that no other lease has
  const sum = await dp.msm(curve, points, scalars, { lease });

  const [a, b] = [curve.scalars.numbers(factors), curve.scalars.numbers(scalars)];
  const expected = a.reduce((total, factor, i) => total + factor * b[i], 0n) % curve.scalars.modulus;
  if (!sum.equals(curve.multiply(curve.generator(), expected))) throw new Error('the result is wrong');

  const domain = new dp.Domain(curve.scalars, 10);
  const elements = curve.scalars.random(1024, 3);
  const transformed = await dp.ntt(domain, elements, { lease });
  const restored = await dp.ntt(domain, transformed, { inverse: true, lease });
  if (!restored.equals(elements)) throw new Error('the inverse transform does not restore the elements');
  const short = elements.subarray(0, 1000 * curve.scalars.elementBytes);
  await dp.ntt(domain, short, { lease }).catch((error) => console.log(`refused: ${error.name}: ${error.message}`));
  domain.close();
  lease.close();
  console.log('checked:', Buffer.from(sum.subarray(0, 32)).reverse().toString('hex'));
  pool.close();
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
