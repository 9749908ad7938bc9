# SPDX-License-Identifier: Apache-2.0
"""Zero-knowledge cryptography on GPUs: libdevicepool for Python.

    import devicepool as dp

    with dp.Pool("sim:1") as pool:
        curve = dp.Curve("bn254_g1")
        points, _ = curve.random_points(1000, seed=1)
        scalars = curve.scalars.random(1000, seed=2)
        result = dp.msm(curve, points, scalars, device=pool.next())

Data are objects with the buffer protocol (bytes, bytearray, memoryview, array, numpy arrays), which are used where they
lie, or a Buffer in a device's memory. Numbers are little-endian. A failure raises Error. Calls release Python's lock, so
threads compute at the same time; `start` and `run` do it for concurrent.futures and asyncio. Every function of the C
library is in `raw`, whose struct types and constants this module uses; docs/bindings.md explains both."""
import asyncio
import atexit
import concurrent.futures
import contextlib
import ctypes
import enum
import os
import queue
import threading
import weakref

from . import raw

__version__ = raw.VERSION
__all__ = ["Bases", "Buffer", "Cancel", "Curve", "Device", "Domain", "Error", "Field", "Form", "Kernel", "Lease", "Module",
           "Pinned", "Pool", "Poseidon", "Span", "Stream", "library", "load", "log", "msm", "ntt", "raw", "run", "start",
           "vector"]

_library = None
_loading = threading.Lock()


def load(path=None):
    """Opens the library: `path`, the environment variable DEVICEPOOL_LIBRARY, or libdevicepool.so.0 as the loader finds it.
    The first use does it where the program does not."""
    global _library
    with _loading:
        if _library is None:
            path = path or os.environ.get("DEVICEPOOL_LIBRARY") or "libdevicepool.so.0"
            try:
                _library = raw.load(path)
            except OSError as error:
                raise OSError(f"{error}: install the library, name its directory in LD_LIBRARY_PATH, or the file in "
                              "DEVICEPOOL_LIBRARY") from None
            except AttributeError as error:
                raise ImportError(f"{path} is of another version than this binding: {error}") from None
    return _library


def library():
    """The ctypes library, whose functions are declared as in raw.FUNCTIONS."""
    return _library or load()


# --- failures ----------------------------------------------------------------------------------------


class Error(Exception):
    """A failure. `status` is a value of pool_status and `name` its name, `harms` what is harmed ("call", "device", "host",
    "process"), `message` what was attempted, why it failed and what to do; `code` and `code_name` are the driver's, 0 and ""
    when no call of it was the cause, and `call` is that call."""

    def __init__(self, status, message, code=0, code_name="", call=""):
        self.status = status
        self.name = library().pool_status_name(status).decode()
        self.harms = library().pool_error_class_name(library().pool_status_class(status)).decode()
        self.message, self.code, self.code_name, self.call = message, code, code_name, call
        super().__init__(f"{self.name}: {message}")

    def __reduce__(self):
        return Error, (self.status, self.message, self.code, self.code_name, self.call)


_log_callbacks = []  # a call in progress may still use an earlier one


def log(function, level=raw.POOL_LOG_WARN):
    """Passes messages up to a level to `function(level, message)`, on any thread: it must not call the library. None: no
    messages."""
    def report(_, record):
        function(record.contents.level, record.contents.message.decode(errors="replace"))

    _log_callbacks.append(raw.pool_log_callback(report) if function else raw.pool_log_callback())
    library().pool_log_set(_log_callbacks[-1], None, level if function else raw.POOL_LOG_NONE)


def _last_error():
    error = library().pool_last_error().contents
    return Error(error.status, error.message.decode(errors="replace"), error.driver_code, error.driver_name.decode(),
                 error.call.decode(errors="replace"))


def _check(status):
    """Raises the calling thread's failure, which is that of the call just made."""
    if status != raw.POOL_OK:
        raise _last_error()


def _slot_error(slot):
    return Error(slot.status, slot.message.decode(errors="replace"), slot.driver_code, slot.driver_name.decode(),
                 slot.call.decode(errors="replace"))


# --- data --------------------------------------------------------------------------------------------


class Form(enum.IntEnum):
    """How elements are stored."""
    STANDARD = raw.POOL_FORM_STANDARD
    MONTGOMERY = raw.POOL_FORM_MONTGOMERY


class _PyBuffer(ctypes.Structure):
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
                ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p),
                ("shape", ctypes.POINTER(ctypes.c_ssize_t)), ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
                ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)), ("internal", ctypes.c_void_p)]


_STRIDED, _WRITABLE = 0x10 | 0x08, 0x01  # PyBUF_STRIDES (with PyBUF_ND), PyBUF_WRITABLE
_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = [ctypes.py_object, ctypes.POINTER(_PyBuffer), ctypes.c_int]
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes = [ctypes.POINTER(_PyBuffer)]
_release_buffer.restype = None


@contextlib.contextmanager
def _memory(data, writable=False):
    """(address, bytes, items along the first axis or None, bytes between them) of an object's memory, which stays in place
    meanwhile. Everything but the first axis must be packed."""
    view = _PyBuffer()
    _get_buffer(data, ctypes.byref(view), _STRIDED | (_WRITABLE if writable else 0))
    try:
        shape = [view.shape[i] for i in range(view.ndim)]
        strides = [view.strides[i] for i in range(view.ndim)]
        packed = view.itemsize
        for length, stride in zip(reversed(shape[1:]), reversed(strides[1:])):
            if stride != packed and length > 1:
                raise ValueError("only the first axis of an array may have a stride: pass a contiguous copy")
            packed *= length
        if shape and strides[0] < packed and shape[0] > 1:
            raise ValueError("items must not overlap or be in reverse order: pass a contiguous copy")
        is_strided = bool(shape) and strides[0] != packed and shape[0] > 1
        yield (view.buf, view.len, shape[0] if len(shape) > 1 or is_strided else None, strides[0] if is_strided else 0)
    finally:
        _release_buffer(ctypes.byref(view))


class Span:
    """Items of an operation, where more has to be said than `data` does: their form, their count, where they begin."""

    def __init__(self, data, count=None, form=Form.STANDARD, offset=0):
        self.data, self.count, self.form, self.offset = data, count, Form(form), offset


def _item_count(total, item_bytes, what):
    if total % item_bytes:
        raise ValueError(f"{what}: {total} bytes are no multiple of an item's {item_bytes}")
    return total // item_bytes


def _span(stack, data, item_bytes, what, writable=False):
    """A pool_span of anything that is accepted as data; `stack` keeps it in place until the call has returned."""
    count, form, offset = None, Form.STANDARD, 0
    if isinstance(data, Span):
        data, count, form, offset = data.data, data.count, data.form, data.offset
    if isinstance(data, Pinned):
        data = data.memory
    if isinstance(data, Buffer):
        left = data.nbytes - offset
        span = raw.pool_span()
        _check(library().pool_buffer_span(data._handle(), offset, _item_count(left, item_bytes, what) if count is None else count,
                                          form, span))
        return span
    address, size, rows, stride = stack.enter_context(_memory(data, writable))
    if stride:
        # Items are rows of the array, or a row has several of them and there is no gap inside.
        if size // rows != item_bytes:
            raise ValueError(f"{what}: a row of the array has {size // rows} bytes, an item {item_bytes}")
        available = rows - (offset // stride)
    else:
        available = _item_count(size - offset, item_bytes, what)
    if count is not None and count > available:
        raise ValueError(f"{what}: {count} items, the memory has {available}")
    return raw.pool_span(data=(address or 0) + offset, count=available if count is None else count, stride=stride, form=form,
                         space=raw.POOL_MEMORY_HOST)


def _output(out, size):
    return bytearray(size) if out is None else out


# --- handles -----------------------------------------------------------------------------------------


class _Handle:
    """An object of the library. `close` destroys it; so does the end of a `with` block, or else of the object. What it
    belongs to stays alive until then; a Pool that is closed closes what belongs to it first."""
    _destroy = None

    def __init__(self, handle, *owners):
        self._pointer = handle
        self._owners = owners
        if self._destroy and (pool := self._pool()):
            pool._add(self)

    def _pool(self):
        for owner in self._owners:
            if isinstance(owner, Pool):
                return owner
            if owner is not None and (pool := owner._pool()):
                return pool
        return None

    def _handle(self):
        for owner in self._owners:
            if owner is not None:
                owner._handle()
        if not self._pointer:
            raise ValueError(f"this {type(self).__name__} is closed")
        return self._pointer

    def close(self):
        if self._pointer and self._destroy:
            result = getattr(library(), self._destroy)(ctypes.byref(self._pointer))
            if not self._pointer:
                self._owners = ()
            if isinstance(result, int) and result != raw.POOL_OK:
                raise _last_error()

    def _leave(self):
        """Its pool is closed."""
        self.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        with contextlib.suppress(Exception):
            self.close()


def _make(call, *arguments):
    """The handle that a call writes behind its arguments."""
    handle = ctypes.c_void_p()
    _check(call(*arguments, ctypes.byref(handle)))
    return handle


def _params(kind, **members):
    """A struct of raw with its size; None leaves a member at its default."""
    made = getattr(raw, kind)()
    made.struct_size = ctypes.sizeof(made)
    for name, value in members.items():
        if value is None:
            continue
        if name not in dict(made._fields_):
            raise TypeError(f"{kind} has no member {name}")
        setattr(made, name, value.encode() if isinstance(value, str) else value)
    return made


def _text(call, *arguments):
    text = ctypes.c_char_p()
    _check(call(*arguments, ctypes.byref(text)))
    result = text.value.decode()
    library().pool_text_free(ctypes.byref(text))
    return result


def _nanoseconds(seconds, none=0):
    if seconds is None:
        return none
    return min(int(seconds * 1e9), raw.POOL_WAIT_FOREVER)


class Cancel(_Handle):
    """A request to cancel, which any thread may make; calls that were given it then raise POOL_ERR_CANCELLED."""
    _destroy = "pool_cancel_destroy"

    def __init__(self):
        super().__init__(_make(library().pool_cancel_create))

    def request(self):
        library().pool_cancel_request(self._handle())

    @property
    def requested(self):
        return bool(library().pool_cancel_requested(self._handle()))


# --- pools and devices -------------------------------------------------------------------------------

_POLICIES = {"round robin": raw.POOL_POLICY_ROUND_ROBIN, "most free": raw.POOL_POLICY_MOST_FREE,
             "least loaded": raw.POOL_POLICY_LEAST_LOADED, "score": raw.POOL_POLICY_SCORE}


class Pool(_Handle):
    """The devices that a string names ("all", "0,2-3", "sim:4", "workers:all"; None: DEVICEPOOL_DEVICES, or all). Further
    members of pool_params are keywords."""
    _destroy = "pool_destroy"

    def __init__(self, devices=None, **params):
        struct = _params("pool_params", devices=devices, **params)
        handle = ctypes.c_void_p()
        self._children, self._adding = weakref.WeakSet(), threading.Lock()
        _check(library().pool_create(ctypes.byref(handle), struct))
        super().__init__(handle)

    def _add(self, child):
        with self._adding:
            self._children.add(child)

    def close(self):
        """Withdraws requests that wait, closes what belongs to the pool, then the pool. Refused with POOL_ERR_BUSY while a
        thread has a device bound."""
        _Ticket.withdraw_all(self)
        with self._adding:
            children = list(self._children)
        for child in children:
            with contextlib.suppress(Error):  # the library counts what is left
                child._leave()
        super().close()

    def __len__(self):
        return library().pool_device_count(self._handle())

    def __getitem__(self, index):
        if index >= len(self):
            raise IndexError(index)
        return Device(_make(library().pool_device_at, self._handle(), index), self)

    @property
    def usable(self):
        return library().pool_usable_count(self._handle())

    def next(self):
        """The next usable device, round robin."""
        return Device(_make(library().pool_next_device, self._handle()), self)

    def best(self):
        """The usable device with most free memory."""
        return Device(_make(library().pool_best_device, self._handle()), self)

    def pick(self, policy="round robin", min_free_bytes=0, filter=None, score=None):
        """By policy; `filter` and `score` get a pool_candidate and return whether it counts, and its value."""
        pick = _pick(policy, min_free_bytes, filter, score)
        return Device(_make(library().pool_pick_device, self._handle(), pick), self)

    def by_uuid(self, uuid):
        return Device(_make(library().pool_device_by_uuid, self._handle(), uuid.encode()), self)

    def describe(self, json=False):
        return _text(library().pool_describe, self._handle(), raw.POOL_TEXT_JSON if json else raw.POOL_TEXT_PLAIN)

    def health(self):
        info = _params("pool_health_info")
        _check(library().pool_get_health(self._handle(), info))
        return info

    def bound(self):
        """The device that this thread has bound."""
        return Device(_make(library().pool_bound_device, self._handle()), self)

    def acquire(self, bytes=0, timeout=None, **request):
        """Waits for a lease of memory and slots; further members of pool_request are keywords. `timeout` in seconds, None:
        for ever."""
        struct, kept = _request(bytes, timeout, request)
        lease = Lease(_make(library().pool_acquire, self._handle(), struct), self)
        del kept
        return lease

    def acquire_future(self, bytes=0, timeout=None, **request):
        """The same as a concurrent.futures.Future, without a thread that waits; cancelling it withdraws the request."""
        return _Ticket(self, bytes, timeout, request).future

    async def acquire_async(self, bytes=0, timeout=None, **request):
        """The same for asyncio."""
        return await asyncio.wrap_future(self.acquire_future(bytes, timeout, **request))


def _pick(policy, min_free_bytes, filter, score):
    def passes(_, candidate):
        return 1 if filter(candidate.contents) else 0

    def value(_, candidate):
        return float(score(candidate.contents))

    pick = _params("pool_pick", policy=raw.POOL_POLICY_SCORE if score else _POLICIES[policy], min_free_bytes=min_free_bytes,
                   filter=raw.pool_pick_filter(passes) if filter else None,
                   score=raw.pool_pick_score(value) if score else None)
    return pick


def _request(size, timeout, members):
    kept = [members.get("cancel"), members.get("device")]
    members = {name: value._handle() if isinstance(value, _Handle) else value for name, value in members.items()}
    return _params("pool_request", bytes=size, timeout_ns=_nanoseconds(timeout, raw.POOL_WAIT_FOREVER), **members), kept


class _Ticket:
    """A request that is decided later. The library's hook takes the lease and destroys the ticket; a thread of this module
    completes the future, as callbacks of futures may take long and the last reference to a pool may be dropped there."""
    _waiting, _adding, _decided, _thread = {}, threading.Lock(), queue.SimpleQueue(), None

    def __init__(self, pool, size, timeout, members):
        self.future = concurrent.futures.Future()
        self._pool = pool
        self._cancel = Cancel()
        self._slot = _params("pool_error_slot")
        self._is_destroyed = threading.Event()
        struct, self._kept = _request(size, timeout, {**members, "cancel": self._cancel})
        struct.error = ctypes.pointer(self._slot)
        self.future.set_running_or_notify_cancel()
        self.future.cancel = self._withdraw
        with _Ticket._adding:
            _Ticket._waiting[id(self)] = self
            if not _Ticket._thread:
                _Ticket._thread = threading.Thread(target=_Ticket._complete, name="devicepool-leases", daemon=True)
                _Ticket._thread.start()
        try:
            _check(library().pool_acquire_async(pool._handle(), struct, _granted, id(self), ctypes.byref(ctypes.c_void_p())))
        except BaseException:  # also that the pool is closed
            with _Ticket._adding:
                del _Ticket._waiting[id(self)]
            self._is_destroyed.set()
            raise

    def _withdraw(self):
        self._cancel.request()
        return not self.future.done()

    @staticmethod
    def withdraw_all(pool):
        """Returns when the pool has no ticket: the future of one that was cancelled may be done before the ticket is."""
        with _Ticket._adding:
            tickets = [ticket for ticket in _Ticket._waiting.values() if ticket._pool is pool]
        for ticket in tickets:
            ticket._withdraw()
        for ticket in tickets:
            ticket._is_destroyed.wait()

    @staticmethod
    def _decide(user, ticket):
        """On a thread of the library, possibly before pool_acquire_async has returned."""
        lease, ticket = ctypes.c_void_p(), ctypes.c_void_p(ticket)
        status = library().pool_ticket_take(ticket, ctypes.byref(lease))
        library().pool_ticket_destroy(ctypes.byref(ticket))
        waiting = _Ticket._waiting[user]
        taken = Lease(lease, waiting._pool) if status == raw.POOL_OK else None  # closing the pool finds it from here on
        waiting._is_destroyed.set()
        _Ticket._decided.put((user, taken))

    @staticmethod
    def _complete():
        while True:
            user, taken = _Ticket._decided.get()
            with _Ticket._adding:
                ticket = _Ticket._waiting.pop(user)
            if taken is not None:
                ticket.future.set_result(taken)
            else:
                ticket.future.set_exception(_slot_error(ticket._slot))
            del ticket, taken


_granted = raw.pool_grant_hook(_Ticket._decide)  # one for all: it must outlive every call


class Device(_Handle):
    """A device of a pool, which owns it."""

    def __eq__(self, other):
        return isinstance(other, Device) and self._pointer.value == other._pointer.value

    def __hash__(self):
        return hash(self._pointer.value)

    @property
    def index(self):
        return library().pool_device_index(self._handle())

    @property
    def ordinal(self):
        return library().pool_device_ordinal(self._handle())

    @property
    def uuid(self):
        return library().pool_device_uuid(self._handle()).decode()

    def info(self):
        info = _params("pool_device_info")
        _check(library().pool_device_get_info(self._handle(), info))
        return info

    def memory(self):
        info = _params("pool_memory_info")
        _check(library().pool_memory_get_info(self._handle(), info))
        return info

    @contextlib.contextmanager
    def bind(self):
        """Its context is current on this thread inside the `with` block."""
        _check(library().pool_bind(self._handle()))
        try:
            yield self
        finally:
            _check(library().pool_unbind(self._handle()))

    def alloc(self, size, zeroed=False, secret=False, stream=None, lease=None):
        """Memory of the device."""
        flags = (raw.POOL_BUFFER_ZEROED if zeroed else 0) | (raw.POOL_BUFFER_SECRET if secret else 0)
        params = _params("pool_buffer_params", bytes=size, flags=flags, stream=stream and stream._handle(),
                         lease=lease and lease._handle())
        return Buffer(_make(library().pool_buffer_create, self._handle(), params), self)

    def upload(self, data):
        """A copy of host memory on the device."""
        with _memory(data) as (address, size, _, stride):
            if stride:
                raise ValueError("a copy needs contiguous memory")
            return Buffer(_make(library().pool_buffer_from_host, self._handle(), address, size), self)

    def pinned(self, size, secret=False):
        """Page-locked host memory."""
        return Pinned(_make(library().pool_pinned_create, self._handle(), size, raw.POOL_PINNED_SECRET if secret else 0), self)

    def stream(self, priority=0):
        return Stream(_make(library().pool_stream_create, self._handle(), _params("pool_stream_params", priority=priority)), self)

    def compile(self, source, name=None, defines=(), options=(), arithmetic=(), names=(), cancel=None):
        """A module of CUDA C++. `arithmetic` has pairs of a prefix and a Field, Curve or Poseidon: the source can include
        "PREFIX.cuh"."""
        def strings(values):
            return (ctypes.c_char_p * max(1, len(values)))(*[value.encode() for value in values])

        headers = (raw.pool_module_arithmetic * max(1, len(arithmetic)))()
        for header, (prefix, of) in zip(headers, arithmetic):
            header.prefix = prefix.encode()
            setattr(header, {Field: "field", Curve: "curve", Poseidon: "poseidon"}[type(of)], of._handle())
        params = _params("pool_module_params", source=source, name=name, defines=strings(defines), define_count=len(defines),
                         options=strings(options), option_count=len(options), arithmetic=headers,
                         arithmetic_count=len(arithmetic), names=strings(names), name_count=len(names),
                         cancel=cancel and cancel._handle())
        return Module(_make(library().pool_module_compile, self._handle(), params), self)

    def load(self, image):
        """A module of PTX, a cubin or a fatbin in memory."""
        with _memory(image) as (address, size, _, _):
            return Module(_make(library().pool_module_load, self._handle(), address, size), self)

    def synchronize(self, timeout=None):
        """Waits for all work of the device; with a timeout in seconds that of the library's streams."""
        if timeout is None:
            _check(library().pool_device_synchronize(self._handle()))
        else:
            _check(library().pool_device_wait(self._handle(), _nanoseconds(timeout)))


class Lease(_Handle):
    """Bytes and slots that are reserved on devices until the end of the `with` block."""
    _destroy = "pool_release"

    @property
    def devices(self):
        count = library().pool_lease_device_count(self._handle())
        return [Device(_make(library().pool_lease_device, self._handle(), i), self._owners[0]) for i in range(count)]

    @property
    def device(self):
        return self.devices[0]

    def info(self):
        info = _params("pool_lease_info")
        _check(library().pool_lease_get_info(self._handle(), info))
        return info

    def usage(self, index=0):
        usage = _params("pool_lease_usage")
        _check(library().pool_lease_get_usage(self._handle(), index, usage))
        return usage

    def stream(self, index=0):
        """The lease's stream of a device, which belongs to the pool."""
        return _LeaseStream(_make(library().pool_lease_stream, self._handle(), index), self)


class Stream(_Handle):
    """A queue of work on a device."""
    _destroy = "pool_stream_destroy"

    def synchronize(self, timeout=None):
        if timeout is None:
            _check(library().pool_stream_synchronize(self._handle()))
        else:
            _check(library().pool_stream_wait(self._handle(), _nanoseconds(timeout)))

    @property
    def idle(self):
        status = library().pool_stream_query(self._handle())
        if status not in (raw.POOL_OK, raw.POOL_ERR_NOT_READY):
            raise _last_error()
        return status == raw.POOL_OK


class _LeaseStream(Stream):
    _destroy = None


class Buffer(_Handle):
    """Memory of a device."""
    _destroy = "pool_buffer_destroy"

    @property
    def nbytes(self):
        return library().pool_buffer_bytes(self._handle())

    @property
    def address(self):
        address = ctypes.c_uint64()
        _check(library().pool_buffer_address(self._handle(), ctypes.byref(address)))
        return address.value

    def slice(self, offset, size):
        return Buffer(_make(library().pool_buffer_slice, self._handle(), offset, size), *self._owners)

    def write(self, data, offset=0):
        """Copies host memory to the buffer; the data has been read when this returns."""
        with _memory(data) as (address, size, _, stride):
            if stride:
                raise ValueError("a copy needs contiguous memory")
            _check(library().pool_copy_to_device(self._handle(), offset, address, size, None))

    def read(self, out=None, offset=0):
        """Copies the buffer, or as much of it as `out` has, to host memory."""
        out = _output(out, self.nbytes - offset)
        with _memory(out, writable=True) as (address, size, _, stride):
            if stride:
                raise ValueError("a copy needs contiguous memory")
            _check(library().pool_copy_to_host(address, self._handle(), offset, size, None))
        return out

    def fill(self, value, offset=0, count=None):
        count = self.nbytes - offset if count is None else count
        _check(library().pool_buffer_fill8(self._handle(), offset, count, value, None))


class Pinned(_Handle):
    """Page-locked host memory; `memory` is a memoryview of it, which must not be used after `close`."""
    _destroy = "pool_pinned_destroy"

    @property
    def memory(self):
        size = library().pool_pinned_bytes(self._handle())
        return memoryview((ctypes.c_uint8 * size).from_address(library().pool_pinned_data(self._handle()))).cast("B")


# --- kernels -----------------------------------------------------------------------------------------


class Module(_Handle):
    """Kernels and variables that are loaded on a device."""
    _destroy = "pool_module_destroy"

    def kernel(self, name):
        return Kernel(_make(library().pool_kernel_get, self._handle(), name.encode()), self)


class Kernel(_Handle):
    """A kernel of a module."""

    def info(self):
        info = _params("pool_kernel_info")
        _check(library().pool_kernel_get_info(self._handle(), info))
        return info

    def _argument(self, index, value):
        if isinstance(value, Buffer):
            return ctypes.c_uint64(value.address)
        if isinstance(value, int):
            offset, size = ctypes.c_uint64(), ctypes.c_uint64()
            _check(library().pool_kernel_get_parameter(self._handle(), index, ctypes.byref(offset), ctypes.byref(size)))
            return (ctypes.c_uint8 * size.value)(*value.to_bytes(size.value, "little", signed=value < 0))
        return value

    def launch(self, *arguments, n=None, grid=None, block=None, shared=0, stream=None, cooperative=False):
        """Enqueues the kernel: for `n` items, a thread for each, or with the dimensions `grid` and `block`. Arguments are
        Buffers, integers, which get the size of the kernel's parameter, or values of ctypes."""
        values = [self._argument(i, value) for i, value in enumerate(arguments)]
        shape = _params("pool_launch_shape")
        if n is not None:
            _check(library().pool_launch_shape_for(n, shape))
        for name, dimensions in (("grid", grid), ("block", block)):
            if dimensions is not None:
                dimensions = (dimensions,) if isinstance(dimensions, int) else dimensions
                setattr(shape, name, (ctypes.c_uint32 * 3)(*dimensions))
        sizes = (ctypes.c_uint64 * max(1, len(values)))(*[ctypes.sizeof(value) for value in values])
        shape.dynamic_shared_bytes, shape.cooperative = shared, cooperative
        shape.argument_count, shape.argument_bytes = len(values), sizes
        pointers = (ctypes.c_void_p * max(1, len(values)))(*[ctypes.addressof(value) for value in values])
        _check(library().pool_launch(self._handle(), shape, pointers, stream and stream._handle()))


# --- fields and curves -------------------------------------------------------------------------------


class Field(_Handle):
    """A built-in field by name, or one from its modulus."""
    _destroy = "pool_field_destroy"

    def __init__(self, name=None, *, modulus=None, generator=None, root=None, _handle=None):
        if _handle:
            handle = ctypes.c_void_p(library().pool_field_retain(_handle))
        elif modulus is not None:
            params = _params("pool_field_params", modulus=str(modulus), name=name, generator=generator and str(generator),
                             root=root and str(root))
            handle = _make(library().pool_field_create, params)
        else:
            handle = ctypes.c_void_p(library().pool_field_by_name(name.encode()))
            if not handle:
                raise _last_error()
        super().__init__(handle)
        self.element_bytes = library().pool_field_element_bytes(handle)
        self.name = library().pool_field_name(handle).decode()

    @property
    def modulus(self):
        element = ctypes.create_string_buffer(self.element_bytes)
        _check(library().pool_field_modulus(self._handle(), element))
        return int.from_bytes(element.raw, "little")

    def elements(self, numbers):
        """Packed elements of Python's integers."""
        return bytearray(b"".join(int(number).to_bytes(self.element_bytes, "little") for number in numbers))

    def numbers(self, elements):
        """Python's integers of packed elements."""
        data, size = bytes(elements), self.element_bytes
        return [int.from_bytes(data[i:i + size], "little") for i in range(0, len(data), size)]

    def random(self, count, seed, form=Form.STANDARD):
        """For tests, not for secrets."""
        elements = bytearray(count * self.element_bytes)
        with _memory(elements, writable=True) as (address, _, _, _):
            _check(library().pool_random_scalars(self._handle(), seed, count, form, address))
        return elements

    def convert(self, elements, form, out=None):
        """From standard form to `form` Montgomery, or from Montgomery to standard."""
        call = library().pool_field_to_montgomery if form == Form.MONTGOMERY else library().pool_field_from_montgomery
        with _memory(elements) as (address, size, _, _):
            out = _output(out, size)
            with _memory(out, writable=True) as (result, _, _, _):
                _check(call(self._handle(), address, _item_count(size, self.element_bytes, "elements"), result))
        return out

    def root_of_unity(self, log2_order, convention=None):
        root = ctypes.create_string_buffer(self.element_bytes)
        _check(library().pool_field_root_of_unity(self._handle(), convention and convention.encode(), log2_order,
                                                  raw.POOL_FORM_STANDARD, root))
        return int.from_bytes(root.raw, "little")


_LAYOUTS = {"affine": raw.POOL_POINT_AFFINE, "affine flag": raw.POOL_POINT_AFFINE_FLAG, "jacobian": raw.POOL_POINT_JACOBIAN,
            "projective": raw.POOL_POINT_PROJECTIVE, "xyzz": raw.POOL_POINT_XYZZ}


class Curve(_Handle):
    """A built-in curve by name, or one from its coefficients, whose members of pool_curve_params are keywords."""
    _destroy = "pool_curve_destroy"

    def __init__(self, name=None, *, field=None, a=("0",), b=("0",), generator=None, **params):
        if field is None:
            handle = ctypes.c_void_p(library().pool_curve_by_name(name.encode()))
            if not handle:
                raise _last_error()
        else:
            def coordinate(value):
                parts = value if isinstance(value, (tuple, list)) else (value,)
                return (ctypes.c_char_p * 2)(*[str(part).encode() for part in parts])

            members = {key: value._handle() if isinstance(value, _Handle) else str(value) if key in ("order", "cofactor") else value
                       for key, value in params.items()}
            struct = _params("pool_curve_params", field=field._handle(), a=coordinate(a), b=coordinate(b), name=name,
                             generator_x=coordinate(generator[0]), generator_y=coordinate(generator[1]), **members)
            handle = _make(library().pool_curve_create, struct)
        super().__init__(handle)
        self.name = library().pool_curve_name(handle).decode()
        self.base = Field(_handle=library().pool_curve_base_field(handle))
        self.scalars = Field(_handle=library().pool_curve_scalar_field(handle))

    def point_bytes(self, layout="affine"):
        return library().pool_point_bytes(self._handle(), _LAYOUTS[layout])

    def generator(self):
        point = bytearray(self.point_bytes())
        with _memory(point, writable=True) as (address, _, _, _):
            _check(library().pool_curve_generator(self._handle(), None, address))
        return point

    def add(self, p, q):
        """On the host: for checking results."""
        total = bytearray(self.point_bytes())
        with _memory(p) as left, _memory(q) as right, _memory(total, writable=True) as result:
            _check(library().pool_point_add(self._handle(), None, left[0], right[0], result[0]))
        return total

    def multiply(self, p, scalar):
        """On the host: for checking results."""
        product = bytearray(self.point_bytes())
        factor = int(scalar).to_bytes(max(1, (int(scalar).bit_length() + 7) // 8), "little")
        with _memory(p) as point, _memory(product, writable=True) as result, _memory(factor) as number:
            _check(library().pool_point_mul(self._handle(), None, point[0], number[0], len(factor), result[0]))
        return product

    def random_points(self, count, seed):
        """(points, scalars) such that point i is scalar i times the generator: for tests."""
        points, scalars = bytearray(count * self.point_bytes()), bytearray(count * self.scalars.element_bytes)
        with _memory(points, writable=True) as to_points, _memory(scalars, writable=True) as to_scalars:
            _check(library().pool_random_points(self._handle(), seed, count, None, to_points[0], to_scalars[0]))
        return points, scalars

    def encode(self, points, encoding=raw.POOL_ENCODING_ZCASH_COMPRESSED):
        count = _item_count(len(points), self.point_bytes(), "points")
        encoded = bytearray(count * library().pool_encoding_bytes(self._handle(), encoding))
        with _memory(points) as source, _memory(encoded, writable=True) as result:
            _check(library().pool_points_encode(self._handle(), None, source[0], count, encoding, 0, result[0]))
        return encoded

    def decode(self, encoded, encoding=raw.POOL_ENCODING_ZCASH_COMPRESSED, checks=raw.POOL_CHECK_SUBGROUP):
        count = _item_count(len(encoded), library().pool_encoding_bytes(self._handle(), encoding) or 1, "encoded points")
        points = bytearray(count * self.point_bytes())
        with _memory(encoded) as source, _memory(points, writable=True) as result:
            _check(library().pool_points_decode(self._handle(), encoding, 0, source[0], count, checks, None, result[0]))
        return points


# --- operations --------------------------------------------------------------------------------------


_left_behind = []


def _keep(*_):
    """Called at the end of a call with what must stay alive during it."""


class _Exec:
    """A pool_exec from keywords: device, devices, stream, lease, checks, cancel, progress, timeout, memory_limit, on_host.
    A progress function that raises ends the operation, and its exception is raised."""

    def __init__(self, device=None, devices=None, stream=None, lease=None, checks=0, cancel=None, progress=None, timeout=None,
                 memory_limit=0, on_host=False, is_async=False):
        self.raised = None
        self._kept = (device, devices, stream, lease, cancel)
        self.struct = _params("pool_exec", device=device and device._handle(), stream=stream and stream._handle(),
                              lease=lease and lease._handle(), checks=checks, memory_limit=memory_limit, on_host=on_host,
                              is_async=is_async, timeout_ns=_nanoseconds(timeout))
        if devices:
            self._array = (ctypes.c_void_p * len(devices))(*[item._handle().value for item in devices])
            self.struct.devices, self.struct.device_count = self._array, len(devices)
        if progress:
            cancel = cancel or Cancel()
            self._cancel = cancel

            def report(_, done, total):
                try:
                    progress(done, total)
                except BaseException as error:  # pylint: disable=broad-except
                    self.raised = self.raised or error
                    cancel.request()

            self._progress = raw.pool_exec_progress(report)
            self.struct.progress = self._progress
        if cancel:
            self.struct.cancel = cancel._handle()

    def pool(self):
        """The pool of what the call was given."""
        device, devices, stream, lease, _ = self._kept
        for item in (device, stream, lease, *(devices or ())):
            if item is not None:
                return item._pool()
        return None

    def check(self, status, stack):
        """Raises the failure of the call. After a deadline the library may have left its work behind, which still uses the
        call's memory: that is kept until the process ends."""
        if status == raw.POOL_ERR_TIMEOUT:
            _left_behind.append((self, stack.pop_all()))
        if self.raised:
            raise self.raised
        _check(status)


class Bases(_Handle):
    """Base points that stay in a device's memory, optionally with precomputed multiples (a factor, or "all")."""
    _destroy = "pool_bases_destroy"

    def __init__(self, curve, points, layout="affine", precompute=0, **where):
        factor = {"all": raw.POOL_PRECOMPUTE_ALL, "auto": raw.POOL_PRECOMPUTE_AUTO}.get(precompute, precompute)
        params = _params("pool_bases_params", curve=curve._handle(), layout=_LAYOUTS[layout], precompute_factor=factor)
        execution = _Exec(**where)
        handle = ctypes.c_void_p()
        with contextlib.ExitStack() as stack:
            stack.callback(_keep, curve)
            span = _span(stack, points, curve.point_bytes(layout), "points")
            execution.check(library().pool_bases_create(params, execution.struct, span, ctypes.byref(handle)), stack)
        super().__init__(handle, curve, where.get("device"))
        self.curve = curve

    def __len__(self):
        return library().pool_bases_count(self._handle())


def msm(curve, points, scalars, out=None, *, batch=1, shared_bases=False, layout="affine", result_layout="affine",
        scalar_bits=0, window_bits=0, affine_passes=0, **where):
    """`batch` sums of scalars times points; points may be Bases. Returns the results, by default a bytearray."""
    bases = points if isinstance(points, Bases) else None
    params = _params("pool_msm_params", curve=curve._handle(), bases=bases and bases._handle(), batch=batch,
                     shared_bases=shared_bases, point_layout=0 if bases else _LAYOUTS[layout],
                     result_layout=_LAYOUTS[result_layout], scalar_bits=scalar_bits, window_bits=window_bits,
                     affine_passes=affine_passes)
    execution = _Exec(**where)
    size = curve.point_bytes(result_layout)
    out = _output(out, batch * size)
    with contextlib.ExitStack() as stack:
        stack.callback(_keep, curve, points)
        from_points = None if bases else _span(stack, points, curve.point_bytes(layout), "points")
        from_scalars = _span(stack, scalars, curve.scalars.element_bytes, "scalars")
        results = _span(stack, out, size, "results", writable=True)
        execution.check(library().pool_msm(params, execution.struct, from_points, from_scalars, results), stack)
    return out


class Domain(_Handle):
    """A multiplicative subgroup of order 2^log_size, for transforms. Its tables stay on the devices that have used it, until
    it or their pool is closed; after the latter it is made again at the next use."""
    _destroy = "pool_ntt_domain_destroy"

    def __init__(self, field, log_size, convention=None, root=None, coset=None):
        self.field, self.log_size = field, log_size
        self._changing = threading.Lock()
        self._params = _params("pool_ntt_domain_params", field=field._handle(), log_size=log_size, convention=convention,
                               root=root and str(root), coset=coset and str(coset))
        self._is_closed = False
        super().__init__(_make(library().pool_ntt_domain_create, self._params), field)

    @contextlib.contextmanager
    def _use(self, pool):
        """A reference for one call."""
        with self._changing:
            if self._is_closed:
                raise ValueError("this Domain is closed")
            if not self._pointer:
                self._pointer = _make(library().pool_ntt_domain_create, self._params)
            handle = ctypes.c_void_p(library().pool_ntt_domain_retain(self._pointer))
        if pool:
            pool._add(self)
        try:
            yield handle
        finally:
            library().pool_ntt_domain_destroy(ctypes.byref(handle))

    def _leave(self):
        with self._changing:
            if self._pointer:
                library().pool_ntt_domain_destroy(ctypes.byref(self._pointer))

    def close(self):
        self._is_closed = True
        self._leave()


_ORDERS = {"nn": raw.POOL_NTT_NN, "nr": raw.POOL_NTT_NR, "rn": raw.POOL_NTT_RN, "rr": raw.POOL_NTT_RR}


def ntt(domain, data, out=None, *, inverse=False, coset=False, order="nn", batch=1, columns=False, **where):
    """`batch` transforms of 2^log_size elements; `out` may be `data`. Returns the results, by default a bytearray."""
    params = _params("pool_ntt_params", coset=coset, order=_ORDERS[order], batch=batch,
                     direction=raw.POOL_NTT_INVERSE if inverse else raw.POOL_NTT_FORWARD,
                     layout=raw.POOL_NTT_COLUMNS if columns else raw.POOL_NTT_ROWS)
    execution = _Exec(**where)
    size = domain.field.element_bytes
    out = _output(out, (batch << domain.log_size) * size)
    with contextlib.ExitStack() as stack:
        params.domain = stack.enter_context(domain._use(execution.pool()))
        source = _span(stack, data, size, "data", writable=out is data)
        result = source if out is data else _span(stack, out, size, "out", writable=True)
        execution.check(library().pool_ntt(params, execution.struct, source, result), stack)
    return out


class Poseidon(_Handle):
    """A built-in parameter set by name."""
    _destroy = "pool_poseidon_destroy"

    def __init__(self, name):
        super().__init__(_make(library().pool_poseidon_by_name, name.encode()))
        self.field = Field(_handle=library().pool_poseidon_field(self._handle()))
        self.digest_bytes = library().pool_poseidon_digest_elements(self._handle()) * self.field.element_bytes

    def hash(self, inputs, elements, out=None, **where):
        """A digest for each `elements` elements."""
        return self._compute("pool_poseidon_hash", inputs, elements * self.field.element_bytes, out, self.digest_bytes,
                             (elements,), where)

    def permute(self, states, out=None, **where):
        size = library().pool_poseidon_width(self._handle()) * self.field.element_bytes
        return self._compute("pool_poseidon_permute", states, size, out, size, (), where)

    def _compute(self, name, inputs, input_bytes, out, output_bytes, between, where):
        execution = _Exec(**where)
        with contextlib.ExitStack() as stack:
            stack.callback(_keep, self)
            source = _span(stack, inputs, input_bytes, "inputs")
            out = _output(out, source.count * output_bytes)
            result = _span(stack, out, output_bytes, "out", writable=True)
            execution.check(getattr(library(), name)(self._handle(), execution.struct, source, *between, result), stack)
        return out

    def merkle(self, leaves, arity=2, leaf_elements=0, height=0, out=None, **where):
        """All levels of the tree, from the leaves' digests to the root, which is the last item."""
        params = _params("pool_merkle_params", arity=arity, leaf_elements=leaf_elements, height=height)
        execution = _Exec(**where)
        with contextlib.ExitStack() as stack:
            stack.callback(_keep, self)
            size = leaf_elements * self.field.element_bytes or self.digest_bytes
            source = _span(stack, leaves, size, "leaves")
            shape = _params("pool_merkle_shape")
            _check(library().pool_merkle_get_shape(self._handle(), params, source.count, shape))
            out = _output(out, shape.bytes)
            result = _span(stack, out, self.digest_bytes, "out", writable=True)
            execution.check(library().pool_poseidon_merkle_build(self._handle(), execution.struct, params, source, result), stack)
        return out


def vector(operation, field, *operands, out=None, **where):
    """add, sub, mul (two vectors), inverse, bit_reverse (one); scale (an integer, a vector)."""
    execution = _Exec(**where)
    size = field.element_bytes
    with contextlib.ExitStack() as stack:
        stack.callback(_keep, field)
        arguments, count = [], 0
        for operand in operands:
            if isinstance(operand, int):
                arguments.append(operand.to_bytes(size, "little"))
                continue
            arguments.append(_span(stack, operand, size, operation))
            count = arguments[-1].count
        out = _output(out, count * size)
        result = _span(stack, out, size, "out", writable=True)
        call = getattr(library(), f"pool_vector_{operation}")
        execution.check(call(field._handle(), execution.struct, *arguments, result), stack)
    return out


# --- asynchronous calls ------------------------------------------------------------------------------

_executor = None


def start(function, *arguments, executor=None, **keywords):
    """The call as a concurrent.futures.Future, on a thread of the executor: `start(dp.msm, curve, points, scalars,
    device=device).result()`. Failures are raised by `result`."""
    global _executor
    if executor is None:
        with _loading:
            if _executor is None:
                _executor = concurrent.futures.ThreadPoolExecutor(thread_name_prefix="devicepool")
                atexit.register(_executor.shutdown)
        executor = _executor
    return executor.submit(function, *arguments, **keywords)


async def run(function, *arguments, executor=None, **keywords):
    """The same for asyncio: `await run(dp.msm, curve, points, scalars, device=device)`. When the task is cancelled, the
    operation is, too, and has ended when CancelledError is raised."""
    cancel = keywords.setdefault("cancel", Cancel())
    future = asyncio.wrap_future(start(function, *arguments, executor=executor, **keywords))
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        cancel.request()
        with contextlib.suppress(Error):
            await future
        raise
