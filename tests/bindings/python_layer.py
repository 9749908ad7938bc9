# SPDX-License-Identifier: Apache-2.0
"""What only the binding of Python has: objects with the buffer protocol as spans, exceptions, `with`, threads, asyncio."""
import array
import asyncio
import concurrent.futures
import gc
import pickle
import threading
import time

import devicepool as dp

try:
    import numpy
except ImportError:
    numpy = None


def refused(kind, function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def numbers_of_anything(device):
    field = dp.Field("goldilocks")
    expected = [3 * i for i in range(50)]
    for data in (array.array("Q", range(50)), field.elements(range(50)), bytes(field.elements(range(50))),
                 memoryview(field.elements(range(50)))):
        assert field.numbers(dp.vector("scale", field, 3, data, device=device)) == expected
    refused(ValueError, dp.vector, "inverse", field, b"123", device=device)
    refused((BufferError, TypeError), dp.vector, "scale", field, 3, bytes(8), out=bytes(8), device=device)
    refused(TypeError, dp.vector, "inverse", field, [1, 2, 3], device=device)
    refused(ValueError, dp.vector, "inverse", field, dp.Span(bytes(16), count=3), device=device)
    later = dp.vector("inverse", field, dp.Span(field.elements([7, 1, 1]), offset=8), device=device)
    assert field.numbers(later) == [1, 1]
    one = field.convert(field.elements([1]), dp.Form.MONTGOMERY)
    assert field.numbers(dp.vector("inverse", field, dp.Span(one, form=dp.Form.MONTGOMERY), device=device)) == [1]


def arrays_without_copies(device):
    field = dp.Field("goldilocks")
    numbers = numpy.arange(100, dtype=numpy.uint64)
    out = numpy.zeros(100, dtype=numpy.uint64)
    assert dp.vector("scale", field, 5, numbers, out=out, device=device) is out
    assert (out == 5 * numbers).all()
    # Every second item, read and written where it lies.
    out[:] = 0
    dp.vector("scale", field, 5, numbers[::2], out=out[1::2], device=device)
    assert (out[1::2] == 5 * numbers[::2]).all() and not out[::2].any()
    # A column of records, and rows as items.
    table = numpy.zeros((10, 3), dtype=numpy.uint64)
    table[:, 1] = range(10)
    assert field.numbers(dp.vector("scale", field, 2, table[:, 1], device=device)) == [2 * i for i in range(10)]
    wide = numpy.zeros((6, 4), dtype=numpy.uint64)
    wide[:, 0] = range(6)
    fr = dp.Field("bn254_fr")
    assert fr.numbers(dp.vector("scale", fr, 9, wide[::2], device=device)) == [0, 18, 36]
    refused(ValueError, dp.vector, "scale", field, 2, table[:, ::2], device=device)
    refused(ValueError, dp.vector, "scale", field, 2, numbers[::-1], device=device)
    numbers.flags.writeable = False
    dp.vector("scale", field, 5, numbers, device=device)
    refused((ValueError, BufferError), dp.vector, "scale", field, 5, bytes(800), out=numbers, device=device)


def failures(pool, device):
    error = refused(dp.Error, device.alloc, 2**50)
    assert error.status == dp.raw.POOL_ERR_OUT_OF_DEVICE_MEMORY and error.harms == "call" and "are free" in str(error), error
    assert pickle.loads(pickle.dumps(error)).message == error.message
    refused(IndexError, pool.__getitem__, 3)
    refused(TypeError, dp.Pool, "sim:3", nothing=1)

    def interrupt(done, total):
        raise KeyError((done, total))
    fr = dp.Field("bn254_fr")
    domain = dp.Domain(fr, 4)
    refused(KeyError, dp.ntt, domain, fr.random(64, 1), batch=4, device=device, progress=interrupt)
    assert len(dp.ntt(domain, fr.random(16, 1), device=device)) == 512
    messages = []
    dp.log(lambda level, message: messages.append((level, message)))
    refused(dp.Error, dp.Field, "nothing")
    dp.log(None)
    refused(dp.Error, dp.Field, "nothing")
    assert len(messages) == 1 and messages[0][0] == dp.raw.POOL_LOG_ERROR, messages


def threads(device):
    curve = dp.Curve("bn254_g1")
    points, _ = curve.random_points(20, 1)
    scalars = curve.scalars.random(20, 2)
    expected = dp.msm(curve, points, scalars, device=device)
    started = [dp.start(dp.msm, curve, points, scalars, device=device) for _ in range(8)]
    assert all(future.result() == expected for future in started)
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        failed = dp.start(dp.msm, curve, points, scalars[:-32], device=device, executor=executor)
        assert failed.exception().status == dp.raw.POOL_ERR_INVALID_ARGUMENT

    async def together():
        return await asyncio.gather(*[dp.run(dp.msm, curve, points, scalars, device=device) for _ in range(4)])
    assert asyncio.run(together()) == [expected] * 4

    # A task that is cancelled cancels its operation, which has ended then.
    begun = threading.Event()

    def slow(cancel):
        begun.set()
        while not cancel.requested:
            time.sleep(0.001)
        raise dp.Error(dp.raw.POOL_ERR_CANCELLED, "cancelled")

    async def cancelled():
        task = asyncio.ensure_future(dp.run(slow))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return task.cancelled()
    assert asyncio.run(cancelled())


def lifetimes():
    pool = dp.Pool("sim:3")
    device = pool[0]
    buffer, stream, domain = device.alloc(100), device.stream(), dp.Domain(dp.Field("goldilocks"), 3)
    dp.ntt(domain, bytes(64), device=device)
    part = buffer.slice(0, 10)
    with device.bind():
        assert pool.bound() == device
        refused(dp.Error, pool.close)  # a thread has a binding
    pool.close()
    pool.close()
    for use in (lambda: device.index, lambda: buffer.nbytes, lambda: part.nbytes, stream.synchronize, pool.next):
        refused(ValueError, use)
    with dp.Pool("sim:3") as other:  # the domain is made again
        assert dp.ntt(domain, bytes(64), device=other[0]) == bytes(64)
        other[0].alloc(10)  # nobody keeps it
        gc.collect()
        kept = other[0].alloc(10)
        del other
        gc.collect()
        assert kept.nbytes == 10
    domain.close()
    refused(ValueError, dp.ntt, domain, bytes(64))
    # A future that nobody waits for releases its lease.
    with dp.Pool("sim:3", slots=1) as pool:
        first = pool.acquire(devices=3)
        future = pool.acquire_future()
        assert not future.done()
        first.close()
        assert isinstance(future.result(30), dp.Lease)
        del future
        gc.collect()
        pool.acquire(devices=3, timeout=30).close()
    # A pool that is closed withdraws what still waits, also where a cancelled future is done before its ticket is.
    for cancels in False, True:
        with dp.Pool("sim:1", slots=1) as pool, pool.acquire():
            futures = [pool.acquire_future() for _ in range(20)]
            for future in futures if cancels else ():
                future.cancel()
            pool.close()
        assert {future.exception(30).name for future in futures} == {"POOL_ERR_CANCELLED"}


with dp.Pool("sim:3") as shared:
    numbers_of_anything(shared[0])
    if numpy:
        arrays_without_copies(shared[0])
    failures(shared, shared[0])
    threads(shared[0])
lifetimes()
print(f"spans, failures, threads and lifetimes are right; numpy {numpy.__version__ if numpy else 'is missing'}")
