// SPDX-License-Identifier: Apache-2.0
// Zero-knowledge cryptography on GPUs: libdevicepool for Node.
//
// Operations return promises and run on threads of Node's pool. Data are typed arrays, Buffers and ArrayBuffers, which are
// used where they lie and must not be changed or transferred until the promise is settled, or buffers of a device. Numbers
// are little-endian. A failure is an Error with status, name, message, harms, driverCode, driverName and call. Objects are
// closed with close(), a pool last: it refuses while others exist. `raw` has every function, struct and constant of C.
'use strict';
const path = require('path');
const declarations = require('./raw.js');

function loadAddon() {
  try {
    return require(path.join(process.env.DEVICEPOOL_NODE_BUILD || path.join(__dirname, 'build'), 'devicepool.node'));
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') error.message = `the addon is not built: run node ${path.join(__dirname, 'build.js')}`;
    else if (/libdevicepool/.test(error.message)) error.message += '; LD_LIBRARY_PATH may name its directory';
    throw error;
  }
}

const addon = loadAddon();

const C = declarations.constants;

// --- the layer of C -----------------------------------------------------------------------------------

function returned(code, value) {
  if (code === 's') return value ? addon.text(value) : null;
  if (code === 'p' || code === 'u8') return value;
  if (code === 'v') return undefined;
  return code[0] === 'i' ? Number(BigInt.asIntN(64, value)) : Number(value);
}

// raw.pool_device_count(pool): arguments are numbers, bigints, strings, null, views, Structs.
const raw = { constants: C, structs: declarations.structs, async: {} };
for (const [name, [number, code, parameters]] of Object.entries(declarations.functions)) {
  const prepared = (args) => {
    if (args.length !== parameters.length) throw new TypeError(`${name} has ${parameters.length} arguments, not ${args.length}`);
    return args.map((argument) => (argument instanceof Struct ? argument.bytes : argument));
  };
  raw[name] = (...args) => returned(code, addon.call(number, prepared(args)));
  raw.async[name] = async (...args) => returned(code, await addon.callAsync(number, prepared(args)));
}

// A struct of C in memory of JavaScript, with its size set; what its pointers point to is kept.
class Struct {
  constructor(name, values = {}) {
    this.layout = declarations.structs[name];
    if (!this.layout) throw new TypeError(`no struct ${name}`);
    this.bytes = new Uint8Array(this.layout.size);
    this.view = new DataView(this.bytes.buffer);
    this.kept = {};
    if (this.layout.members.struct_size) this.set('struct_size', this.layout.size);
    for (const [member, value] of Object.entries(values)) this.set(member, value);
  }

  member(name) {
    const member = this.layout.members[name];
    if (!member) throw new TypeError(`no member ${name}`);
    return member;
  }

  set(name, value) {
    const [offset, code, size] = this.member(name);
    if (value === undefined) return;
    if (typeof value === 'string') value = Buffer.from(`${value}\0`);
    if (value instanceof Struct) value = value.bytes;
    if (code === 'p') {
      this.kept[name] = value;
      const address = typeof value === 'bigint' ? value : value === null ? 0n : addon.address(value);
      this.view.setBigUint64(offset, address, true);
    } else if (size === 8) this.view.setBigUint64(offset, BigInt.asUintN(64, BigInt(value)), true);
    else if (size === 4) this.view.setInt32(offset, Number(value) | 0, true);
    else if (ArrayBuffer.isView(value)) this.bytes.set(new Uint8Array(value.buffer, value.byteOffset, value.byteLength), offset);
    else throw new TypeError(`member ${name} is no number`);
  }

  get(name) {
    const [offset, code, size, array] = this.member(name);
    if (array && code === 'u1') {
      const text = Buffer.from(this.bytes.buffer, offset, size);
      return text.toString('utf8', 0, text.indexOf(0));
    }
    if (code === 'p' || size === 8) return this.view.getBigUint64(offset, true);
    return code[0] === 'u' ? this.view.getUint32(offset, true) : this.view.getInt32(offset, true);
  }
}

const slot = () => new BigUint64Array(1);

// The handle that a call writes behind its arguments.
function made(name, ...args) {
  const to = slot();
  raw[name](...args, to);
  return to[0];
}

// --- objects ------------------------------------------------------------------------------------------

class Handle {
  constructor(address, destroy) {
    this.address = address;
    this.destroy = destroy;
  }

  get handle() {
    if (!this.address) throw new Error(`this ${this.constructor.name} is closed`);
    return this.address;
  }

  close() {
    if (!this.address) return;
    const at = BigUint64Array.of(this.address);
    try {
      raw[this.destroy](at);
    } finally {
      this.address = at[0];
    }
  }
}

class Cancel extends Handle {
  constructor() {
    super(made('pool_cancel_create'), 'pool_cancel_destroy');
  }

  request() {
    raw.pool_cancel_request(this.handle);
  }

  get requested() {
    return raw.pool_cancel_requested(this.handle) !== 0;
  }

  // One that an AbortSignal requests, for the time of `body`.
  static async during(signal, body) {
    if (!signal) return body(null);
    const cancel = new Cancel();
    const request = () => cancel.request();
    signal.addEventListener('abort', request);
    if (signal.aborted) request();
    try {
      return await body(cancel);
    } finally {
      signal.removeEventListener('abort', request);
      cancel.close();
    }
  }
}

class Pool extends Handle {
  // "all", "0,2-3", "sim:4", "workers:all"; nothing: DEVICEPOOL_DEVICES, or all. `params` are members of pool_params.
  constructor(devices = null, params = {}) {
    const to = slot();
    raw.pool_create(to, new Struct('pool_params', { devices, ...params }));
    super(to[0], 'pool_destroy');
  }

  get length() {
    return Number(raw.pool_device_count(this.handle));
  }

  get usable() {
    return Number(raw.pool_usable_count(this.handle));
  }

  at(index) {
    return new Device(made('pool_device_at', this.handle, index));
  }

  next() {
    return new Device(made('pool_next_device', this.handle));
  }

  best() {
    return new Device(made('pool_best_device', this.handle));
  }

  byUuid(uuid) {
    return new Device(made('pool_device_by_uuid', this.handle, uuid));
  }

  // By a policy, C.POOL_POLICY_…, of the devices for which `filter(device, freeBytes, leases)` is true.
  pick(policy = C.POOL_POLICY_ROUND_ROBIN, filter = null, minFreeBytes = 0) {
    const wrapped = filter && ((device, free, leases) => filter(new Device(device), free, leases));
    return new Device(addon.pick(this.handle, policy, minFreeBytes, wrapped));
  }

  // The one with the highest `score(device, freeBytes, leases)`.
  pickByScore(score) {
    return this.pick(C.POOL_POLICY_SCORE, score);
  }

  bound() {
    return new Device(made('pool_bound_device', this.handle));
  }

  health() {
    const info = new Struct('pool_health_info');
    raw.pool_get_health(this.handle, info);
    return info;
  }

  describe(isJson = false) {
    const address = made('pool_describe', this.handle, isJson ? C.POOL_TEXT_JSON : C.POOL_TEXT_PLAIN);
    const text = addon.text(address);
    raw.pool_text_free(BigUint64Array.of(address));
    return isJson ? JSON.parse(text) : text;
  }

  // A promise of a lease; `timeout` in milliseconds. Further members of pool_request as they are.
  async acquire({ bytes = 0, timeout, signal, ...members } = {}) {
    const timeout_ns = timeout === undefined ? C.POOL_WAIT_FOREVER : BigInt(Math.round(timeout * 1e6));
    return Cancel.during(signal, async (cancel) => {
      const request = new Struct('pool_request', { bytes, timeout_ns, ...members });
      if (cancel) request.set('cancel', cancel.handle);
      return new Lease(await addon.acquire(this.handle, request.bytes));
    });
  }
}

class Lease extends Handle {
  constructor(address) {
    super(address, 'pool_release');
  }

  get length() {
    return raw.pool_lease_device_count(this.handle);
  }

  device(index = 0) {
    return new Device(made('pool_lease_device', this.handle, index));
  }

  info() {
    const info = new Struct('pool_lease_info');
    raw.pool_lease_get_info(this.handle, info);
    return info;
  }

  usage(index = 0) {
    const usage = new Struct('pool_lease_usage');
    raw.pool_lease_get_usage(this.handle, index, usage);
    return usage;
  }
}

// A device of a pool, which owns it.
class Device {
  constructor(handle) {
    this.handle = handle;
  }

  get index() {
    return raw.pool_device_index(this.handle);
  }

  get uuid() {
    return raw.pool_device_uuid(this.handle);
  }

  info() {
    const info = new Struct('pool_device_info');
    raw.pool_device_get_info(this.handle, info);
    return info;
  }

  // Its context is current on this thread during `body`, which does not wait.
  bind(body) {
    raw.pool_bind(this.handle);
    try {
      return body();
    } finally {
      raw.pool_unbind(this.handle);
    }
  }

  alloc(bytes, { flags = 0, lease = null } = {}) {
    const params = new Struct('pool_buffer_params', { bytes, flags, lease: lease && lease.handle });
    return new DeviceBuffer(made('pool_buffer_create', this.handle, params));
  }

  zeroed(bytes) {
    return this.alloc(bytes, { flags: C.POOL_BUFFER_ZEROED });
  }

  upload(data) {
    return new DeviceBuffer(made('pool_buffer_from_host', this.handle, data, data.byteLength));
  }

  stream() {
    return new Stream(made('pool_stream_create', this.handle, null));
  }

  // PTX, a cubin or a fatbin.
  load(image) {
    return new Module(made('pool_module_load', this.handle, image, image.byteLength));
  }

  // CUDA C++, by NVRTC.
  async compile(source) {
    const to = slot();
    await raw.async.pool_module_compile(this.handle, new Struct('pool_module_params', { source }), to);
    return new Module(to[0]);
  }

  async synchronize() {
    await raw.async.pool_device_synchronize(this.handle);
  }
}

class Stream extends Handle {
  constructor(address) {
    super(address, 'pool_stream_destroy');
  }

  async synchronize() {
    await raw.async.pool_stream_synchronize(this.handle);
  }

  get idle() {
    try {
      raw.pool_stream_query(this.handle);
      return true;
    } catch (error) {
      if (error.status !== C.POOL_ERR_NOT_READY) throw error;
      return false;
    }
  }
}

class DeviceBuffer extends Handle {
  constructor(address) {
    super(address, 'pool_buffer_destroy');
  }

  get byteLength() {
    return Number(raw.pool_buffer_bytes(this.handle));
  }

  slice(offset, bytes) {
    return new DeviceBuffer(made('pool_buffer_slice', this.handle, offset, bytes));
  }

  async write(data, offset = 0) {
    await raw.async.pool_copy_to_device(this.handle, offset, data, data.byteLength, null);
  }

  async read(to = Buffer.alloc(this.byteLength), offset = 0) {
    await raw.async.pool_copy_to_host(to, this.handle, offset, to.byteLength, null);
    return to;
  }

  fill(value, offset, count) {
    raw.pool_buffer_fill8(this.handle, offset, count, value, null);
  }
}

class Module extends Handle {
  constructor(address) {
    super(address, 'pool_module_destroy');
  }

  kernel(name) {
    return new Kernel(made('pool_kernel_get', this.handle, name));
  }
}

// A kernel, which belongs to its module.
class Kernel {
  constructor(handle) {
    this.handle = handle;
  }

  // Enqueues a thread for each of `items`. Arguments are buffers of the device, and numbers, which get the size of the
  // kernel's parameter, or views with the bytes of a value.
  launch(items, ...args) {
    const shape = new Struct('pool_launch_shape');
    raw.pool_launch_shape_for(items, shape);
    const values = args.map((argument, i) => {
      if (argument instanceof DeviceBuffer) return BigUint64Array.of(made('pool_buffer_address', argument.handle));
      if (ArrayBuffer.isView(argument)) return argument;
      const size = slot();
      raw.pool_kernel_get_parameter(this.handle, i, slot(), size);
      const bytes = BigUint64Array.of(BigInt.asUintN(64, BigInt(argument)));
      return new Uint8Array(bytes.buffer, 0, Number(size[0]));
    });
    const sizes = BigUint64Array.from(values, (value) => BigInt(value.byteLength));
    const pointers = BigUint64Array.from(values, (value) => addon.address(value));
    shape.set('argument_count', values.length);
    shape.set('argument_bytes', sizes);
    raw.pool_launch(this.handle, shape, pointers, null);
  }
}

// --- fields and curves --------------------------------------------------------------------------------

class Field extends Handle {
  // A built-in field by name, or { modulus }.
  constructor(of) {
    if (typeof of === 'string') {
      const found = raw.pool_field_by_name(of);
      if (!found) throw lastError();
      super(raw.pool_field_retain(found), 'pool_field_destroy');
    } else if (typeof of === 'bigint') {
      super(raw.pool_field_retain(of), 'pool_field_destroy');
    } else {
      super(made('pool_field_create', new Struct('pool_field_params', { modulus: String(of.modulus) })), 'pool_field_destroy');
    }
    this.elementBytes = Number(raw.pool_field_element_bytes(this.handle));
  }

  get modulus() {
    const to = Buffer.alloc(this.elementBytes);
    raw.pool_field_modulus(this.handle, to);
    return number(to);
  }

  // Packed elements of numbers or bigints.
  elements(values) {
    return Buffer.concat(Array.from(values, (value) => littleEndian(value, this.elementBytes)));
  }

  // The bigints of packed elements.
  numbers(elements) {
    const items = [];
    for (let i = 0; i < elements.length; i += this.elementBytes) items.push(number(elements.subarray(i, i + this.elementBytes)));
    return items;
  }

  // For tests, not for secrets.
  random(count, seed) {
    const to = Buffer.alloc(count * this.elementBytes);
    raw.pool_random_scalars(this.handle, seed, count, C.POOL_FORM_STANDARD, to);
    return to;
  }

  rootOfUnity(log2Order) {
    const to = Buffer.alloc(this.elementBytes);
    raw.pool_field_root_of_unity(this.handle, null, log2Order, C.POOL_FORM_STANDARD, to);
    return to;
  }

  toMontgomery(elements) {
    const to = Buffer.alloc(elements.byteLength);
    raw.pool_field_to_montgomery(this.handle, elements, whole(elements.byteLength, this.elementBytes, 'elements'), to);
    return to;
  }
}

class Curve extends Handle {
  constructor(name) {
    const found = raw.pool_curve_by_name(name);
    if (!found) throw lastError();
    super(raw.pool_curve_retain(found), 'pool_curve_destroy');
    this.scalars = new Field(raw.pool_curve_scalar_field(this.handle));
    this.pointBytes = Number(raw.pool_point_bytes(this.handle, C.POOL_POINT_AFFINE));
  }

  point(from) {
    if (from.byteLength !== this.pointBytes) throw new RangeError('a point of another size');
    return from;
  }

  generator() {
    const to = Buffer.alloc(this.pointBytes);
    raw.pool_curve_generator(this.handle, null, to);
    return to;
  }

  // On the host, for checking results; so is multiply.
  add(p, q) {
    const to = Buffer.alloc(this.pointBytes);
    raw.pool_point_add(this.handle, null, this.point(p), this.point(q), to);
    return to;
  }

  multiply(p, scalar) {
    const to = Buffer.alloc(this.pointBytes);
    const bytes = littleEndian(scalar, this.scalars.elementBytes);
    raw.pool_point_mul(this.handle, null, this.point(p), bytes, bytes.length, to);
    return to;
  }

  // Points, and the scalars by which they are multiples of the generator: for tests.
  randomPoints(count, seed) {
    const points = Buffer.alloc(count * this.pointBytes);
    const scalars = Buffer.alloc(count * this.scalars.elementBytes);
    raw.pool_random_points(this.handle, seed, count, null, points, scalars);
    return { points, scalars };
  }

  encode(points, encoding = C.POOL_ENCODING_ZCASH_COMPRESSED) {
    const count = whole(points.byteLength, this.pointBytes, 'points');
    const to = Buffer.alloc(count * Number(raw.pool_encoding_bytes(this.handle, encoding)));
    raw.pool_points_encode(this.handle, null, points, count, encoding, 0, to);
    return to;
  }

  decode(encoded, encoding = C.POOL_ENCODING_ZCASH_COMPRESSED) {
    const count = whole(encoded.byteLength, Number(raw.pool_encoding_bytes(this.handle, encoding)) || 1, 'encoded points');
    const to = Buffer.alloc(count * this.pointBytes);
    raw.pool_points_decode(this.handle, encoding, 0, encoded, count, C.POOL_CHECK_SUBGROUP, null, to);
    return to;
  }
}

function lastError() {
  try {
    raw.pool_error_set(C.POOL_ERR_NOT_FOUND, raw.pool_status_text(C.POOL_ERR_NOT_FOUND));
  } catch (error) {
    return error;
  }
  return new Error('no failure');
}

function number(bytes) {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex') || '0'}`);
}

function littleEndian(value, size) {
  const digits = BigInt(value).toString(16);
  if (digits.length > 2 * size || digits[0] === '-') throw new RangeError(`${value} does not fit ${size} bytes`);
  return Buffer.from(digits.padStart(2 * size, '0'), 'hex').reverse();
}

function whole(bytes, size, what) {
  if (bytes % size) throw new RangeError(`${what}: ${bytes} bytes are no multiple of an item's ${size}`);
  return bytes / size;
}

// --- operations ---------------------------------------------------------------------------------------

// An array with more said about it: its form.
class Span {
  constructor(data, { montgomery = false } = {}) {
    this.data = data;
    this.form = montgomery ? C.POOL_FORM_MONTGOMERY : C.POOL_FORM_STANDARD;
  }
}

function span(of, itemBytes, what) {
  const { data, form } = of instanceof Span ? of : new Span(of);
  const count = whole(data.byteLength, itemBytes, what);
  const made = new Struct('pool_span', { count, form });
  if (data instanceof DeviceBuffer) raw.pool_buffer_span(data.handle, 0, count, form, made);
  else made.set('data', data);
  made.kept.owner = data;
  return made;
}

// Runs a call with a pool_exec of { device, lease, stream, checks, memoryLimit, signal, progress }.
async function operate({ device, lease, stream, checks = 0, memoryLimit = 0, signal, progress } = {}, call) {
  return Cancel.during(signal, async (cancel) => {
    const exec = new Struct('pool_exec', { checks, memory_limit: memoryLimit });
    for (const [name, value] of Object.entries({ device, lease, stream, cancel })) if (value) exec.set(name, value.handle);
    if (!progress) return call(exec);
    const [address, user, ended] = addon.progress(progress);
    exec.set('progress', address);
    exec.set('user', user);
    try {
      return await call(exec);
    } finally {
      addon.progressEnd(user);
      await ended; // every report has been delivered
    }
  });
}

class Bases extends Handle {
  constructor(address, curve) {
    super(address, 'pool_bases_destroy');
    this.curve = curve;
  }

  // Points that stay on a device; `factor` multiples of each are stored, C.POOL_PRECOMPUTE_ALL: one per window.
  static async create(curve, points, { factor = 0, ...where } = {}) {
    const params = new Struct('pool_bases_params', { curve: curve.handle, precompute_factor: factor });
    const to = slot();
    await operate(where, (exec) => raw.async.pool_bases_create(params, exec, span(points, curve.pointBytes, 'points'), to));
    return new Bases(to[0], curve);
  }
}

// `batch` sums of scalars times points, which may be Bases. Resolves with the results.
async function msm(curve, points, scalars, { batch = 1, sharedBases = false, out, ...where } = {}) {
  const results = out || Buffer.alloc(batch * curve.pointBytes);
  const bases = points instanceof Bases ? points.handle : null;
  const params = new Struct('pool_msm_params', { curve: curve.handle, bases, batch, shared_bases: sharedBases ? 1 : 0 });
  const spans = [bases ? null : span(points, curve.pointBytes, 'points'), span(scalars, curve.scalars.elementBytes, 'scalars'),
    span(results, curve.pointBytes, 'results')];
  await operate(where, (exec) => raw.async.pool_msm(params, exec, ...spans));
  return results;
}

// A multiplicative subgroup of order 2^logSize, for transforms. Its tables are on the devices that have used it: it is closed
// before their pool.
class Domain extends Handle {
  constructor(field, logSize) {
    const params = new Struct('pool_ntt_domain_params', { field: field.handle, log_size: logSize });
    super(made('pool_ntt_domain_create', params), 'pool_ntt_domain_destroy');
    this.field = field;
    this.logSize = logSize;
  }
}

const ORDERS = { nn: C.POOL_NTT_NN, nr: C.POOL_NTT_NR, rn: C.POOL_NTT_RN, rr: C.POOL_NTT_RR };

// `batch` transforms. Resolves with the results; `out` may be the data.
async function ntt(domain, data, { inverse = false, coset = false, order = 'nn', columns = false, batch = 1, out, ...where } = {}) {
  const size = domain.field.elementBytes;
  const results = out || Buffer.alloc(batch * 2 ** domain.logSize * size);
  const params = new Struct('pool_ntt_params', { domain: domain.handle, coset: coset ? 1 : 0, order: ORDERS[order], batch,
    direction: inverse ? C.POOL_NTT_INVERSE : C.POOL_NTT_FORWARD, layout: columns ? C.POOL_NTT_COLUMNS : C.POOL_NTT_ROWS });
  await operate(where, (exec) => raw.async.pool_ntt(params, exec, span(data, size, 'data'), span(results, size, 'out')));
  return results;
}

class Poseidon extends Handle {
  constructor(name) {
    super(made('pool_poseidon_by_name', name), 'pool_poseidon_destroy');
    this.field = new Field(raw.pool_poseidon_field(this.handle));
    this.digestBytes = raw.pool_poseidon_digest_elements(this.handle) * this.field.elementBytes;
  }

  // A digest for each `elements` elements.
  async hash(inputs, elements, where) {
    const from = span(inputs, elements * this.field.elementBytes, 'inputs');
    const digests = Buffer.alloc(Number(from.get('count')) * this.digestBytes);
    const to = span(digests, this.digestBytes, 'digests');
    await operate(where, (exec) => raw.async.pool_poseidon_hash(this.handle, exec, from, elements, to));
    return digests;
  }

  async permute(states, where) {
    const size = raw.pool_poseidon_width(this.handle) * this.field.elementBytes;
    const results = Buffer.alloc(states.byteLength);
    const [from, to] = [span(states, size, 'states'), span(results, size, 'results')];
    await operate(where, (exec) => raw.async.pool_poseidon_permute(this.handle, exec, from, to));
    return results;
  }

  // All levels of a tree of digests, the root last.
  async merkle(leaves, arity, where) {
    const params = new Struct('pool_merkle_params', { arity });
    const shape = new Struct('pool_merkle_shape');
    const from = span(leaves, this.digestBytes, 'leaves');
    raw.pool_merkle_get_shape(this.handle, params, from.get('count'), shape);
    const levels = Buffer.alloc(Number(shape.get('bytes')));
    const to = span(levels, this.digestBytes, 'levels');
    await operate(where, (exec) => raw.async.pool_poseidon_merkle_build(this.handle, exec, params, from, to));
    return levels;
  }
}

// 'add', 'sub', 'mul' (two vectors), 'inverse', 'bit_reverse' (one), 'scale' (a number, a vector). Resolves with the results.
async function vector(operation, field, operands, where) {
  const size = field.elementBytes;
  const args = operands.map((operand) => (['number', 'bigint'].includes(typeof operand)
    ? littleEndian(operand, size) : span(operand, size, operation)));
  const last = operands[operands.length - 1];
  const results = Buffer.alloc((last instanceof Span ? last.data : last).byteLength);
  await operate(where, (exec) => raw.async[`pool_vector_${operation}`](field.handle, exec, ...args, span(results, size, 'out')));
  return results;
}

module.exports = { raw, C, Struct, Cancel, Pool, Device, Lease, Stream, DeviceBuffer, Module, Kernel, Field, Curve, Bases, Domain,
  Poseidon, Span, msm, ntt, vector };
