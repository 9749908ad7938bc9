# SPDX-License-Identifier: Apache-2.0
"""The rows of rows.txt by package devicepool of Python.
usage: conformance.py rows.txt"""
import asyncio
import sys

import devicepool as dp

lines = [line.split() for line in open(sys.argv[1], encoding="utf-8")]
named = {line[1]: bytes.fromhex(line[2]) for line in lines if line[0] == "data"}


def content(word):
    return named[word[1:]] if word.startswith("@") else bytes.fromhex(word)


def shown(answer):
    if not isinstance(answer, (bytes, bytearray)):
        return str(answer)
    if len(answer) <= 64:
        return answer.hex()
    value = 0xcbf29ce484222325
    for byte in answer:
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return f"fnv:{value:016x}"


def elements(field, word):
    start, count = map(int, word.split(":"))
    return field.elements(range(start, start + count))


def failure(function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except dp.Error as error:
        return error
    return None


def name_of(error):
    return error.name if error else "no failure"


shared = dp.Pool("sim:3")
device = shared[0]


# Operations: row_NAME(arguments) returns the answer.


def row_version():
    return dp.library().pool_version_text().decode()


def row_devices(spec):
    with dp.Pool(spec) as pool:
        return len(pool)


def row_next(spec, count):
    with dp.Pool(spec) as pool:
        return " ".join(str(pool.next().index) for _ in range(int(count)))


def row_best(spec):
    with dp.Pool(spec) as pool:
        return pool.best().index


def row_pick_filter(spec, index):
    with dp.Pool(spec) as pool:
        chosen = pool.pick("most free", filter=lambda candidate: dp.library().pool_device_index(candidate.device) == int(index))
        return chosen.index


def row_pick_score(spec):
    with dp.Pool(spec) as pool:
        return pool.pick(score=lambda candidate: dp.library().pool_device_index(candidate.device)).index


def row_by_uuid(spec, index):
    with dp.Pool(spec) as pool:
        return pool.by_uuid(pool[int(index)].uuid).index


def row_total(spec):
    with dp.Pool(spec) as pool:
        return pool[0].info().total_bytes


def row_health(spec):
    with dp.Pool(spec) as pool:
        health = pool.health()
        return f"{dp.library().pool_error_class_name(health.harmed).decode()} {health.devices} {health.usable_devices}"


def row_create_error(spec):
    error = failure(dp.Pool, spec)
    return f"{error.name} {error.harms}"


def row_bound(spec, *indices):
    with dp.Pool(spec) as pool:
        def inside(rest):
            if not rest:
                return pool.bound().index
            with pool[int(rest[0])].bind():
                return inside(rest[1:])
        return inside(indices)


def row_not_bound(spec):
    with dp.Pool(spec) as pool:
        return name_of(failure(pool.bound))


def row_copy(word):
    with device.upload(content(word)) as buffer:
        return buffer.read()


def row_slice(word, offset, size):
    with device.upload(content(word)) as buffer, buffer.slice(int(offset), int(size)) as part:
        return part.read()


def row_fill(size, value, offset, count):
    with device.alloc(int(size), zeroed=True) as buffer:
        buffer.fill(int(value), int(offset), int(count))
        return buffer.read()


def row_copy_error(word, size, offset):
    with device.alloc(int(size)) as buffer:
        return name_of(failure(buffer.write, content(word), int(offset)))


def row_pinned(word):
    data = content(word)
    with device.pinned(len(data)) as pinned, device.alloc(len(data)) as buffer:
        pinned.memory[:] = data
        buffer.write(pinned.memory)
        return buffer.read()


def row_stream():
    with device.stream() as stream:
        stream.synchronize()
        return "idle" if stream.idle else "busy"


def row_launch(image, name, count, factor):
    count = int(count)
    numbers = b"".join(i.to_bytes(4, "little") for i in range(count))
    with device.load(content(image)) as module, device.upload(numbers) as buffer:
        module.kernel(name).launch(buffer, int(factor), count, n=count)
        return buffer.read()


def row_launch_error(image, name):
    with device.load(content(image)) as module, device.alloc(4) as buffer:
        return name_of(failure(module.kernel(name).launch, buffer, n=1))


def row_kernel_error(image, name):
    with device.load(content(image)) as module:
        return name_of(failure(module.kernel, name))


def row_image_error(image):
    return name_of(failure(device.load, content(image)))


def field_answer(field):
    return f"{field.element_bytes} {field.modulus.to_bytes(field.element_bytes, 'little').hex()}"


def row_field(name):
    return field_answer(dp.Field(name))


def row_field_custom(modulus):
    return field_answer(dp.Field(modulus=modulus))


def row_field_error(modulus):
    return name_of(failure(dp.Field, modulus=modulus))


def row_field_unknown(name):
    return name_of(failure(dp.Field, name))


def row_root(name, log):
    field = dp.Field(name)
    return field.root_of_unity(int(log)).to_bytes(field.element_bytes, "little")


def row_montgomery(name, word):
    field = dp.Field(name)
    return field.convert(elements(field, word), dp.Form.MONTGOMERY)


def row_vector(operation, name, *words):
    field = dp.Field(name)
    operands = [elements(field, word) if ":" in word else int(word) for word in words]
    return dp.vector(operation, field, *operands, device=device)


def row_ntt(name, log, direction, coset, order, layout, batch, word):
    field = dp.Field(name)
    with dp.Domain(field, int(log)) as domain:
        return dp.ntt(domain, elements(field, word), inverse=direction == "inverse", coset=coset == "1", order=order,
                      columns=layout == "columns", batch=int(batch), device=device)


def row_ntt_error(name, log, word):
    field = dp.Field(name)
    with dp.Domain(field, int(log)) as domain:
        return name_of(failure(dp.ntt, domain, elements(field, word), device=device))


def row_progress(name, log, batch):
    field, batch, reports = dp.Field(name), int(batch), []
    with dp.Domain(field, int(log)) as domain:
        dp.ntt(domain, field.random(batch << int(log), 1), batch=batch, device=device,
               progress=lambda done, total: reports.append(f"{done} {total}"))
    return reports[-1]


def row_hash(name, count, word):
    poseidon = dp.Poseidon(name)
    return poseidon.hash(elements(poseidon.field, word), int(count), device=device)


def row_permute(name, word):
    return dp.Poseidon(name).permute(content(word), device=device)


def row_merkle(name, arity, word):
    poseidon = dp.Poseidon(name)
    return poseidon.merkle(elements(poseidon.field, word), arity=int(arity), device=device)[-poseidon.digest_bytes:]


def row_hash_unknown(name):
    return name_of(failure(dp.Poseidon, name))


def row_msm(name, points, scalars, batch, is_shared):
    return dp.msm(dp.Curve(name), content(points), content(scalars), batch=int(batch), shared_bases=is_shared == "1",
                  device=device)


def row_msm_bases(name, points, scalars, factor):
    curve = dp.Curve(name)
    with dp.Bases(curve, content(points), precompute="all" if factor == "all" else int(factor), device=device) as bases:
        return dp.msm(curve, bases, content(scalars))


def row_msm_device(name, points, scalars):
    curve = dp.Curve(name)
    with device.upload(content(points)) as a, device.upload(content(scalars)) as b, device.alloc(curve.point_bytes()) as out:
        return dp.msm(curve, a, b, out, device=device).read()


def row_msm_async(name, points, scalars):
    curve = dp.Curve(name)
    first = dp.start(dp.msm, curve, content(points), content(scalars), device=device).result()
    second = asyncio.run(dp.run(dp.msm, curve, content(points), content(scalars), device=device))
    return first if first == second else "the two differ"


def row_msm_lease(name, points, scalars, size):
    with shared.acquire(int(size)) as lease:
        return dp.msm(dp.Curve(name), content(points), content(scalars), lease=lease)


def row_msm_error(name, points, scalars, check):
    checks = {"canonical": dp.raw.POOL_CHECK_CANONICAL, "on_curve": dp.raw.POOL_CHECK_ON_CURVE}[check]
    return name_of(failure(dp.msm, dp.Curve(name), content(points), content(scalars), checks=checks, device=device))


def row_cancelled(name, points, scalars):
    with dp.Cancel() as cancel:
        cancel.request()
        return name_of(failure(dp.msm, dp.Curve(name), content(points), content(scalars), cancel=cancel, device=device))


def row_encode(name, points):
    return dp.Curve(name).encode(content(points))


def row_decode_error(name, encoded):
    return name_of(failure(dp.Curve(name).decode, content(encoded)))


def row_point_add(name, p, q):
    return dp.Curve(name).add(content(p), content(q))


def row_point_multiply(name, p, scalar):
    return dp.Curve(name).multiply(content(p), int(scalar))


def row_lease(spec, size, devices):
    with dp.Pool(spec) as pool, pool.acquire(int(size), devices=int(devices)) as lease:
        return f"{lease.info().bytes} {len(lease.devices)}"


def row_lease_used(spec, size, used):
    with dp.Pool(spec) as pool, pool.acquire(int(size)) as lease, lease.device.alloc(int(used), lease=lease):
        return lease.usage().used_bytes


def row_lease_exceeded(spec, size, used):
    with dp.Pool(spec) as pool, pool.acquire(int(size)) as lease:
        return name_of(failure(lease.device.alloc, int(used), lease=lease))


def row_lease_slots(spec, slots):
    with dp.Pool(spec) as pool:
        return name_of(failure(pool.acquire, slots=int(slots)))


def row_lease_timeout(spec):
    with dp.Pool(spec, slots=1) as pool, pool.acquire(devices=len(pool)):
        return name_of(failure(pool.acquire, timeout=0.001))


def row_ticket(spec, size):
    with dp.Pool(spec, slots=1) as pool:
        first = pool.acquire(devices=len(pool))
        future = pool.acquire_future(int(size))
        assert not future.done()
        first.close()
        with future.result(30) as lease:
            return lease.info().bytes


def row_ticket_cancelled(spec):
    with dp.Pool(spec, slots=1) as pool, pool.acquire(devices=len(pool)):
        async def wait():
            task = asyncio.ensure_future(pool.acquire_async())
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert task.cancelled()
        asyncio.run(wait())
        future = pool.acquire_future()
        future.cancel()
        return name_of(failure(future.result, 30))


def row_fault(rule):
    dp.library().pool_sim_set_faults(rule.encode())
    error = failure(device.alloc, 2**20)
    dp.library().pool_sim_set_faults(None)
    return f"{error.name} {error.harms} {error.code}"


def row_worker(spec):
    with dp.Pool(spec) as pool:
        def copies():
            for _ in range(1000):
                with pool[0].upload(b"worker") as buffer:
                    assert buffer.read() == b"worker"
        error = failure(copies)
        return f"{error.name} {error.harms}"


def row_poisoned(image, name, rule):
    module, buffer = device.load(content(image)), device.alloc(4)
    dp.library().pool_sim_set_faults(rule.encode())

    def work():
        module.kernel(name).launch(buffer, 1, 1, n=1)
        device.synchronize()
    error = failure(work)
    return f"{error.name} {error.harms} {error.code}"


for line in lines:
    if line[0] == "row":
        print(line[1], shown(globals()[f"row_{line[2]}"](*line[3:line.index("=")])), flush=True)
