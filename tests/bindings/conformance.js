// SPDX-License-Identifier: Apache-2.0
// The rows of rows.txt by package devicepool of Node.
// usage: conformance.js PACKAGE rows.txt
'use strict';
const fs = require('fs');
const dp = require(process.argv[2]);
const { C, raw } = dp;

const named = {};
const shared = new dp.Pool('sim:3');
const device = shared.at(0);

const content = (word) => (word[0] === '@' ? named[word.slice(1)] : Buffer.from(word, 'hex'));

function shown(answer) {
  if (!ArrayBuffer.isView(answer)) return String(answer);
  if (answer.length <= 64) return answer.toString('hex');
  let hash = 0xcbf29ce484222325n;
  for (const byte of answer) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return `fnv:${hash.toString(16).padStart(16, '0')}`;
}

function elements(field, word) {
  const [start, count] = word.split(':').map(Number);
  return field.elements(Array.from({ length: count }, (_, i) => start + i));
}

async function failure(call) {
  try {
    await call();
  } catch (error) {
    if (!error.status) throw error;
    return error;
  }
  return { name: 'no failure' };
}

const nameOf = async (call) => (await failure(call)).name;

// An answer from a pool of its own.
async function inPool(spec, answer, params) {
  const pool = new dp.Pool(spec, params);
  const text = await answer(pool);
  pool.close();
  return text;
}

// An answer while an object exists.
async function using(object, answer) {
  try {
    return await answer(object);
  } finally {
    object.close();
  }
}

const acquireAll = (pool) => pool.acquire({ devices: pool.length });
const fieldAnswer = (field) => `${field.elementBytes} ${field.elements([field.modulus]).toString('hex')}`;

const operations = {
  version: () => raw.pool_version_text(),
  devices: (spec) => inPool(spec, (pool) => pool.length),
  next: (spec, count) => inPool(spec, (pool) => Array.from({ length: Number(count) }, () => pool.next().index).join(' ')),
  best: (spec) => inPool(spec, (pool) => pool.best().index),
  pick_filter: (spec, index) => inPool(spec, (pool) => pool.pick(C.POOL_POLICY_MOST_FREE, (of) => of.index === Number(index)).index),
  pick_score: (spec) => inPool(spec, (pool) => pool.pickByScore((of) => of.index).index),
  by_uuid: (spec, index) => inPool(spec, (pool) => pool.byUuid(pool.at(Number(index)).uuid).index),
  total: (spec) => inPool(spec, (pool) => pool.at(0).info().get('total_bytes')),
  health: (spec) => inPool(spec, (pool) => {
    const health = pool.health();
    return `${raw.pool_error_class_name(health.get('harmed'))} ${health.get('devices')} ${health.get('usable_devices')}`;
  }),
  create_error: async (spec) => {
    const error = await failure(() => new dp.Pool(spec));
    return `${error.name} ${error.harms}`;
  },
  bound: (spec, ...indices) => inPool(spec, (pool) => {
    const inside = (rest) => (rest.length ? pool.at(Number(rest[0])).bind(() => inside(rest.slice(1))) : pool.bound().index);
    return inside(indices);
  }),
  not_bound: (spec) => inPool(spec, (pool) => nameOf(() => pool.bound())),
  copy: (word) => using(device.upload(content(word)), (buffer) => buffer.read()),
  slice: (word, offset, size) => using(device.upload(content(word)), (buffer) => using(buffer.slice(Number(offset), Number(size)),
    (part) => part.read())),
  fill: (size, value, offset, count) => using(device.zeroed(Number(size)), (buffer) => {
    buffer.fill(Number(value), Number(offset), Number(count));
    return buffer.read();
  }),
  copy_error: (word, size, offset) => using(device.alloc(Number(size)), (buffer) => nameOf(() => buffer.write(content(word), Number(offset)))),
  pinned: async (word) => {
    // By the functions of C alone: page-locked memory is no view.
    const data = content(word);
    const [pinned, to] = [new BigUint64Array(1), Buffer.alloc(data.length)];
    raw.pool_pinned_create(device.handle, data.length, 0, pinned);
    const address = raw.pool_pinned_data(pinned[0]);
    await using(device.upload(data), async (buffer) => {
      raw.pool_copy_to_host(address, buffer.handle, 0, data.length, null);
      raw.pool_buffer_fill8(buffer.handle, 0, data.length, 0, null);
      raw.pool_copy_to_device(buffer.handle, 0, address, data.length, null);
      await buffer.read(to);
    });
    raw.pool_pinned_destroy(pinned);
    return to;
  },
  stream: () => using(device.stream(), async (stream) => {
    await stream.synchronize();
    return stream.idle ? 'idle' : 'busy';
  }),
  launch: (image, name, count, factor) => using(device.load(content(image)), (module) => using(
    device.upload(Uint32Array.from({ length: Number(count) }, (_, i) => i)), async (buffer) => {
      module.kernel(name).launch(Number(count), buffer, Number(factor), Number(count));
      return buffer.read();
    })),
  launch_error: (image, name) => using(device.load(content(image)), (module) => using(device.alloc(4),
    (buffer) => nameOf(() => module.kernel(name).launch(1, buffer)))),
  kernel_error: (image, name) => using(device.load(content(image)), (module) => nameOf(() => module.kernel(name))),
  image_error: (image) => nameOf(() => device.load(content(image))),
  field: (name) => fieldAnswer(new dp.Field(name)),
  field_custom: (modulus) => using(new dp.Field({ modulus }), fieldAnswer),
  field_error: (modulus) => nameOf(() => new dp.Field({ modulus })),
  field_unknown: (name) => nameOf(() => new dp.Field(name)),
  root: (name, log) => new dp.Field(name).rootOfUnity(Number(log)),
  montgomery: (name, word) => {
    const field = new dp.Field(name);
    return field.toMontgomery(elements(field, word));
  },
  vector: (operation, name, ...words) => {
    const field = new dp.Field(name);
    return dp.vector(operation, field, words.map((word) => (word.includes(':') ? elements(field, word) : Number(word))), { device });
  },
  ntt: (name, log, direction, coset, order, layout, batch, word) => {
    const field = new dp.Field(name);
    return using(new dp.Domain(field, Number(log)), (domain) => dp.ntt(domain, elements(field, word), { device, order,
      inverse: direction === 'inverse', coset: coset === '1', columns: layout === 'columns', batch: Number(batch) }));
  },
  ntt_error: (name, log, word) => {
    const field = new dp.Field(name);
    return using(new dp.Domain(field, Number(log)), (domain) => nameOf(() => dp.ntt(domain, elements(field, word), { device })));
  },
  progress: (name, log, batch) => {
    const [field, reports] = [new dp.Field(name), []];
    return using(new dp.Domain(field, Number(log)), async (domain) => {
      await dp.ntt(domain, field.random(batch * 2 ** log, 1), { device, batch: Number(batch),
        progress: (done, total) => reports.push(`${done} ${total}`) });
      return reports[reports.length - 1];
    });
  },
  hash: (name, count, word) => using(new dp.Poseidon(name), (set) => set.hash(elements(set.field, word), Number(count), { device })),
  permute: (name, word) => using(new dp.Poseidon(name), (set) => set.permute(content(word), { device })),
  merkle: (name, arity, word) => using(new dp.Poseidon(name), async (set) => {
    const levels = await set.merkle(elements(set.field, word), Number(arity), { device });
    return levels.subarray(levels.length - set.digestBytes);
  }),
  hash_unknown: (name) => nameOf(() => new dp.Poseidon(name)),
  msm: (name, points, scalars, batch, isShared) => dp.msm(new dp.Curve(name), content(points), content(scalars),
    { device, batch: Number(batch), sharedBases: isShared === '1' }),
  msm_bases: async (name, points, scalars, factor) => {
    const curve = new dp.Curve(name);
    const bases = await dp.Bases.create(curve, content(points), { device,
      factor: factor === 'all' ? C.POOL_PRECOMPUTE_ALL : Number(factor) });
    return using(bases, () => dp.msm(curve, bases, content(scalars)));
  },
  msm_device: (name, points, scalars) => {
    const curve = new dp.Curve(name);
    return using(device.upload(content(points)), (a) => using(device.upload(content(scalars)), (b) => using(
      device.alloc(curve.pointBytes), async (out) => {
        await dp.msm(curve, a, b, { device, out });
        return out.read();
      })));
  },
  msm_async: async (name, points, scalars) => {
    const curve = new dp.Curve(name);
    const sums = await Promise.all(Array.from({ length: 4 }, () => dp.msm(curve, content(points), content(scalars), { device })));
    return sums.every((sum) => sum.equals(sums[0])) ? sums[0] : 'they differ';
  },
  msm_lease: async (name, points, scalars, bytes) => using(await shared.acquire({ bytes: Number(bytes) }),
    (lease) => dp.msm(new dp.Curve(name), content(points), content(scalars), { lease })),
  msm_error: (name, points, scalars, check) => nameOf(() => dp.msm(new dp.Curve(name), content(points), content(scalars),
    { device, checks: check === 'canonical' ? C.POOL_CHECK_CANONICAL : C.POOL_CHECK_ON_CURVE })),
  cancelled: (name, points, scalars) => nameOf(() => dp.msm(new dp.Curve(name), content(points), content(scalars),
    { device, signal: AbortSignal.abort() })),
  encode: (name, points) => new dp.Curve(name).encode(content(points)),
  decode_error: (name, encoded) => nameOf(() => new dp.Curve(name).decode(content(encoded))),
  point_add: (name, p, q) => new dp.Curve(name).add(content(p), content(q)),
  point_multiply: (name, p, scalar) => new dp.Curve(name).multiply(content(p), BigInt(scalar)),
  lease: (spec, bytes, devices) => inPool(spec, async (pool) => using(await pool.acquire({ bytes: Number(bytes), devices: Number(devices) }),
    (lease) => `${lease.info().get('bytes')} ${lease.length}`)),
  lease_used: (spec, bytes, used) => inPool(spec, async (pool) => using(await pool.acquire({ bytes: Number(bytes) }),
    (lease) => using(lease.device().alloc(Number(used), { lease }), () => lease.usage().get('used_bytes')))),
  lease_exceeded: (spec, bytes, used) => inPool(spec, async (pool) => using(await pool.acquire({ bytes: Number(bytes) }),
    (lease) => nameOf(() => lease.device().alloc(Number(used), { lease })))),
  lease_slots: (spec, slots) => inPool(spec, (pool) => nameOf(() => pool.acquire({ slots: Number(slots) }))),
  lease_timeout: (spec) => inPool(spec, async (pool) => using(await acquireAll(pool), () => nameOf(() => pool.acquire({ timeout: 1 }))),
    { slots: 1 }),
  ticket: (spec, bytes) => inPool(spec, async (pool) => {
    const [all, order] = [await acquireAll(pool), []];
    const request = pool.acquire({ bytes: Number(bytes), label: 'later' });
    request.then(() => order.push('granted'));
    await new Promise((resolve) => setTimeout(resolve, 5));
    order.push('released');
    all.close();
    return using(await request, (lease) => (order[0] === 'released' && lease.info().get('label') === 'later'
      ? lease.info().get('bytes') : order.join(' ')));
  }, { slots: 1 }),
  ticket_cancelled: (spec) => inPool(spec, async (pool) => using(await acquireAll(pool), () => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 1);
    return nameOf(() => pool.acquire({ signal: abort.signal }));
  }), { slots: 1 }),
  fault: async (rule) => {
    raw.pool_sim_set_faults(rule);
    const error = await failure(() => device.alloc(2 ** 20));
    raw.pool_sim_set_faults(null);
    return `${error.name} ${error.harms} ${error.driverCode}`;
  },
  worker: (spec) => inPool(spec, async (pool) => {
    const error = await failure(async () => {
      for (let i = 0; i < 1000; i++) {
        const read = await using(pool.at(0).upload(Buffer.from('worker')), (buffer) => buffer.read());
        if (read.toString() !== 'worker') throw new Error('other bytes');
      }
    });
    return `${error.name} ${error.harms}`;
  }),
  poisoned: async (image, name, rule) => {
    const [module, buffer] = [device.load(content(image)), device.alloc(4)];
    const kernel = module.kernel(name);
    raw.pool_sim_set_faults(rule);
    const error = await failure(async () => {
      kernel.launch(1, buffer, Uint32Array.of(1), Uint32Array.of(1));
      await device.synchronize();
    });
    return `${error.name} ${error.harms} ${error.driverCode}`;
  },
};

async function main() {
  for (const line of fs.readFileSync(process.argv[3], 'utf8').split('\n')) {
    const words = line.split(' ');
    if (words[0] === 'data') named[words[1]] = Buffer.from(words[2], 'hex');
    if (words[0] === 'row') console.log(words[1], shown(await operations[words[2]](...words.slice(3, words.indexOf('=')))));
  }
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
