/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library for C++17: owners that destroy what they hold, results that are a value or an error,
 * arrays as spans. A thin layer over the headers of C, whose comments hold; what it lacks is called
 * there, with `get()` of an object. docs/bindings.md has a first program.
 *
 *     auto pool = devicepool::pool::create("sim:1").value();
 *     auto curve = devicepool::curve::named("bn254_g1").value();
 *     auto sum = devicepool::msm(curve, points, scalars, {pool.next().value()});
 *     if (!sum) std::cerr << sum.error().message;
 *
 * Objects are declared after the pool that they belong to, so that they are destroyed before it: a
 * pool with objects left, and any object whose destruction fails, stays until the process ends. An
 * object may be used by several threads as in C; a moved-from one may only be assigned to and
 * destroyed.
 */
#ifndef DEVICEPOOL_DEVICEPOOL_HPP
#define DEVICEPOOL_DEVICEPOOL_HPP

#include <devicepool.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace devicepool
{

using bytes = std::vector<std::uint8_t>;

/* ---- results ----------------------------------------------------------------------------------
 */

/* A failure, as pool_error has it, but owned. */
struct error {
    pool_status status = POOL_ERR_INTERNAL;
    int driver_code = 0;
    std::string driver_name;
    std::string call;
    std::string message;

    const char *name() const
    {
        return pool_status_name(status);
    }
    pool_error_class harms() const
    {
        return pool_status_class(status);
    }

    /* That of the calling thread. */
    static error last()
    {
        const pool_error *from = pool_last_error();
        return {from->status, from->driver_code, from->driver_name, from->call, from->message};
    }

    static error of(const pool_error_slot &slot)
    {
        return {slot.status, slot.driver_code, slot.driver_name, slot.call, slot.message};
    }

    /* A refusal of this layer, which makes it the thread's last error as well. */
    static error refused(const char *message)
    {
        pool_error_set(POOL_ERR_INVALID_ARGUMENT, message);
        return last();
    }
};

#ifdef __cpp_exceptions
/* What value() of a failure throws. */
class exception : public std::runtime_error
{
  public:
    explicit exception(devicepool::error from)
        : std::runtime_error(std::string(from.name()) + ": " + from.message),
          error_(std::move(from))
    {
    }
    const devicepool::error &error() const noexcept
    {
        return error_;
    }

  private:
    devicepool::error error_;
};
#endif

[[noreturn]] inline void fail(const error &from)
{
#ifdef __cpp_exceptions
    throw exception(from);
#else
    (void)from;
    std::abort();
#endif
}

/* A value or an error, as std::expected of C++23. value() throws for an error (without exceptions
 * it aborts). */
template <class T> class [[nodiscard]] result
{
  public:
    using value_type = T;

    result(T value) : content_(std::in_place_index<0>, std::move(value))
    {
    }
    result(devicepool::error from) : content_(std::in_place_index<1>, std::move(from))
    {
    }

    bool has_value() const noexcept
    {
        return content_.index() == 0;
    }
    explicit operator bool() const noexcept
    {
        return has_value();
    }
    const devicepool::error &error() const
    {
        return std::get<1>(content_);
    }

    T &value() &
    {
        if (!has_value())
            fail(error());
        return *std::get_if<0>(&content_);
    }
    const T &value() const &
    {
        return const_cast<result *>(this)->value();
    }
    T &&value() &&
    {
        return std::move(value());
    }
    T value_or(T other) &&
    {
        return has_value() ? std::move(**this) : std::move(other);
    }

    /* Only of a value. */
    T &operator*() &
    {
        return *std::get_if<0>(&content_);
    }
    const T &operator*() const &
    {
        return *std::get_if<0>(&content_);
    }
    T &&operator*() &&
    {
        return std::move(*std::get_if<0>(&content_));
    }
    T *operator->()
    {
        return std::get_if<0>(&content_);
    }
    const T *operator->() const
    {
        return std::get_if<0>(&content_);
    }

    /* `f` of the value, which returns a result; an error passes through. */
    template <class F> auto and_then(F &&f) && -> decltype(f(std::declval<T>()))
    {
        if (!has_value())
            return error();
        return std::forward<F>(f)(std::move(*std::get_if<0>(&content_)));
    }

  private:
    std::variant<T, devicepool::error> content_;
};

template <> class [[nodiscard]] result<void>
{
  public:
    using value_type = void;

    result() = default;
    result(devicepool::error from) : error_(std::make_unique<devicepool::error>(std::move(from)))
    {
    }

    bool has_value() const noexcept
    {
        return !error_;
    }
    explicit operator bool() const noexcept
    {
        return has_value();
    }
    const devicepool::error &error() const
    {
        return *error_;
    }
    void value() const
    {
        if (error_)
            fail(*error_);
    }
    template <class F> auto and_then(F &&f) && -> decltype(f())
    {
        if (error_)
            return *error_;
        return std::forward<F>(f)();
    }

  private:
    std::unique_ptr<devicepool::error> error_;
};

inline result<void> check(pool_status status)
{
    if (status != POOL_OK)
        return error::last();
    return {};
}

/* A struct of the library with its size, the rest zero. */
template <class T> T params()
{
    T made{};
    made.struct_size = sizeof(T);
    return made;
}

/* ---- owners -----------------------------------------------------------------------------------
 */

/* Owns an object of the library, which `destroy` destroys. */
template <class T, auto destroy> class owner
{
  public:
    owner() = default;
    explicit owner(T *object) : object_(object)
    {
    }
    owner(owner &&other) noexcept : object_(other.release())
    {
    }
    owner &operator=(owner &&other) noexcept
    {
        if (this != &other) {
            reset();
            object_ = other.release();
        }
        return *this;
    }
    owner(const owner &) = delete;
    owner &operator=(const owner &) = delete;
    ~owner()
    {
        reset();
    }

    T *get() const noexcept
    {
        return object_;
    }
    explicit operator bool() const noexcept
    {
        return object_ != nullptr;
    }
    T *release() noexcept
    {
        return std::exchange(object_, nullptr);
    }

    /* Destroys it now, and reports what the destructor cannot. */
    result<void> close()
    {
        if constexpr (std::is_void_v<decltype(destroy(&object_))>) {
            destroy(&object_);
            return {};
        } else {
            return check(destroy(&object_));
        }
    }

  protected:
    void reset() noexcept
    {
        if (object_)
            (void)destroy(&object_);
        object_ = nullptr;
    }

    T *object_ = nullptr;
};

/* A cancellation request, which any thread may make. */
class cancel : public owner<pool_cancel, pool_cancel_destroy>
{
  public:
    using owner::owner;

    static result<cancel> create()
    {
        pool_cancel *made = nullptr;
        if (pool_cancel_create(&made))
            return error::last();
        return cancel(made);
    }
    void request() const
    {
        pool_cancel_request(get());
    }
    bool requested() const
    {
        return pool_cancel_requested(get()) != 0;
    }
};

/* ---- data -------------------------------------------------------------------------------------
 */

class buffer;

/*
 * An array that an operation reads: a container with data() and size() of plain values, a buffer,
 * or memory with its size. It owns nothing. The operation knows the size of an item.
 */
class input
{
  public:
    input(const void *data, std::uint64_t size) : bytes_(size)
    {
        span_.data = const_cast<void *>(data);
    }
    template <class C, class V = std::remove_pointer_t<decltype(std::declval<const C &>().data())>,
        class = std::enable_if_t<std::is_trivially_copyable_v<V> &&
                                 !std::is_same_v<std::decay_t<C>, buffer>>>
    input(const C &container) : input(container.data(), container.size() * sizeof(V))
    {
    }
    input(const buffer &from, std::uint64_t offset = 0);

    /* The elements inside are in Montgomery form. */
    input montgomery() const
    {
        input changed = *this;
        changed.span_.form = POOL_FORM_MONTGOMERY;
        return changed;
    }
    /* `count` items whose beginnings are `stride` bytes apart. */
    input strided(std::uint64_t stride, std::uint64_t count) const
    {
        input changed = *this;
        changed.span_.stride = stride;
        changed.span_.count = count;
        return changed;
    }

    result<pool_span> items(std::uint64_t item_bytes) const
    {
        pool_span span = span_;
        if (failure_)
            return *failure_;
        if (span.stride) {
            if (span.count &&
                (span.stride > bytes_ || (span.count - 1) > (bytes_ - item_bytes) / span.stride))
                return error::refused("an array is smaller than its count and stride");
            return span;
        }
        if (!item_bytes || bytes_ % item_bytes)
            return error::refused("the size of an array is no multiple of an item's");
        span.count = bytes_ / item_bytes;
        return span;
    }

  protected:
    pool_span span_{};
    std::uint64_t bytes_ = 0;
    std::shared_ptr<error> failure_; /* found when this was made */
};

/* An array that an operation writes. */
class output : public input
{
  public:
    output(void *data, std::uint64_t size) : input(data, size)
    {
    }
    template <class C, class V = std::remove_pointer_t<decltype(std::declval<C &>().data())>,
        class = std::enable_if_t<std::is_trivially_copyable_v<V> && !std::is_const_v<V> &&
                                 !std::is_same_v<std::decay_t<C>, buffer>>>
    output(C &container) : input(container.data(), container.size() * sizeof(V))
    {
    }
    output(const buffer &to, std::uint64_t offset = 0) : input(to, offset)
    {
    }
    explicit output(const input &same) : input(same)
    {
    }
};

/* ---- devices ----------------------------------------------------------------------------------
 */

inline std::uint64_t nanoseconds(std::chrono::nanoseconds time)
{
    return time == std::chrono::nanoseconds::max() ? POOL_WAIT_FOREVER
                                                   : static_cast<std::uint64_t>(time.count());
}

constexpr std::chrono::nanoseconds forever = std::chrono::nanoseconds::max();

class lease;

/* A queue of work. */
class stream : public owner<pool_stream, pool_stream_destroy>
{
  public:
    using owner::owner;

    result<void> synchronize() const
    {
        return check(pool_stream_synchronize(get()));
    }
    result<void> wait(std::chrono::nanoseconds time) const
    {
        return check(pool_stream_wait(get(), nanoseconds(time)));
    }
    result<bool> idle() const
    {
        pool_status status = pool_stream_query(get());
        if (status == POOL_OK || status == POOL_ERR_NOT_READY)
            return status == POOL_OK;
        return error::last();
    }
};

/* Memory of a device. */
class buffer : public owner<pool_buffer, pool_buffer_destroy>
{
  public:
    using owner::owner;

    std::uint64_t size() const
    {
        return pool_buffer_bytes(get());
    }
    result<CUdeviceptr> address() const
    {
        CUdeviceptr found = 0;
        if (pool_buffer_address(get(), &found))
            return error::last();
        return found;
    }
    result<buffer> slice(std::uint64_t offset, std::uint64_t count) const
    {
        pool_buffer *made = nullptr;
        if (pool_buffer_slice(get(), offset, count, &made))
            return error::last();
        return buffer(made);
    }
    /* Copies; with a stream pinned memory is copied later. */
    template <class C>
    result<void> write(const C &from, std::uint64_t offset = 0, const stream *on = nullptr) const
    {
        return check(pool_copy_to_device(get(), offset, from.data(),
            from.size() * sizeof(*from.data()), on ? on->get() : nullptr));
    }
    template <class C>
    result<void> read(C &to, std::uint64_t offset = 0, const stream *on = nullptr) const
    {
        return check(pool_copy_to_host(
            to.data(), get(), offset, to.size() * sizeof(*to.data()), on ? on->get() : nullptr));
    }
    result<bytes> read() const
    {
        bytes to(size());
        auto done = read(to);
        if (!done)
            return done.error();
        return to;
    }
    result<void> fill(std::uint8_t value, std::uint64_t offset, std::uint64_t count) const
    {
        return check(pool_buffer_fill8(get(), offset, count, value, nullptr));
    }
};

inline input::input(const buffer &from, std::uint64_t offset)
{
    if (pool_buffer_span(from.get(), offset, 0, POOL_FORM_STANDARD, &span_))
        failure_ = std::make_shared<error>(error::last());
    else
        bytes_ = from.size() - offset;
}

/* Page-locked host memory, a container of bytes. */
class pinned : public owner<pool_pinned, pool_pinned_destroy>
{
  public:
    using owner::owner;

    std::uint8_t *data() const
    {
        return static_cast<std::uint8_t *>(pool_pinned_data(get()));
    }
    std::size_t size() const
    {
        return static_cast<std::size_t>(pool_pinned_bytes(get()));
    }
};

/* How many threads run a kernel. */
inline result<pool_launch_shape> threads_for(std::uint64_t items)
{
    auto shape = params<pool_launch_shape>();
    if (pool_launch_shape_for(items, &shape))
        return error::last();
    return shape;
}

/* A kernel, which belongs to its module. */
class kernel
{
  public:
    explicit kernel(pool_kernel *from) : kernel_(from)
    {
    }
    pool_kernel *get() const noexcept
    {
        return kernel_;
    }

    /* Enqueues it with arguments that are plain values, or buffers, which stand for their
     * addresses. */
    template <class... Arguments>
    result<void> launch(
        pool_launch_shape shape, const stream *on, const Arguments &...arguments) const
    {
        auto values = std::make_tuple(argument(arguments)...);
        std::array<void *, sizeof...(Arguments) + 1> pointers{};
        std::array<std::size_t, sizeof...(Arguments) + 1> sizes{};
        std::size_t count = 0;
        std::apply(
            [&](auto &...value) {
                ((sizes[count] = sizeof(value), pointers[count++] = &value), ...);
            },
            values);
        shape.argument_count = static_cast<std::uint32_t>(count);
        shape.argument_bytes = sizes.data();
        return check(pool_launch(kernel_, &shape, pointers.data(), on ? on->get() : nullptr));
    }

  private:
    template <class T> static T argument(const T &value)
    {
        static_assert(std::is_trivially_copyable_v<T>,
            "an argument of a kernel is a plain value or a buffer");
        return value;
    }
    static CUdeviceptr argument(const buffer &value)
    {
        CUdeviceptr address =
            0; /* the library refuses a kernel's NULL, not this: an empty buffer has it */
        (void)pool_buffer_address(value.get(), &address);
        return address;
    }

    pool_kernel *kernel_;
};

/* A loaded module. */
class kernel_module : public owner<pool_module, pool_module_destroy>
{
  public:
    using owner::owner;

    result<devicepool::kernel> kernel(const char *name) const
    {
        pool_kernel *found = nullptr;
        if (pool_kernel_get(get(), name, &found))
            return error::last();
        return devicepool::kernel(found);
    }
};

/* A device is bound to the thread until this is destroyed, on the same thread. */
class binding
{
  public:
    explicit binding(pool_device *device) : device_(device)
    {
    }
    binding(binding &&other) noexcept : device_(std::exchange(other.device_, nullptr))
    {
    }
    binding &operator=(binding &&) = delete;
    ~binding()
    {
        if (device_)
            (void)pool_unbind(device_);
    }

  private:
    pool_device *device_;
};

/* A device of a pool, which owns it. */
class device
{
  public:
    device(pool_device *from = nullptr) : device_(from)
    {
    }
    pool_device *get() const noexcept
    {
        return device_;
    }
    bool operator==(const device &other) const
    {
        return device_ == other.device_;
    }

    int index() const
    {
        return pool_device_index(device_);
    }
    int ordinal() const
    {
        return pool_device_ordinal(device_);
    }
    std::string uuid() const
    {
        return pool_device_uuid(device_);
    }
    result<pool_device_info> info() const
    {
        auto info = params<pool_device_info>();
        if (pool_device_get_info(device_, &info))
            return error::last();
        return info;
    }
    result<binding> bind() const
    {
        if (pool_bind(device_))
            return error::last();
        return binding(device_);
    }
    result<buffer> alloc(
        std::uint64_t size, std::uint32_t flags = 0, const lease *under = nullptr) const;
    template <class C> result<buffer> upload(const C &from) const
    {
        pool_buffer *made = nullptr;
        if (pool_buffer_from_host(device_, from.data(), from.size() * sizeof(*from.data()), &made))
            return error::last();
        return buffer(made);
    }
    result<devicepool::pinned> pinned(std::uint64_t size, std::uint32_t flags = 0) const
    {
        pool_pinned *made = nullptr;
        if (pool_pinned_create(device_, size, flags, &made))
            return error::last();
        return devicepool::pinned(made);
    }
    result<devicepool::stream> stream(std::int32_t priority = 0) const
    {
        auto wanted = params<pool_stream_params>();
        pool_stream *made = nullptr;
        wanted.priority = priority;
        if (pool_stream_create(device_, &wanted, &made))
            return error::last();
        return devicepool::stream(made);
    }
    result<kernel_module> load(const void *image, std::size_t size) const
    {
        pool_module *made = nullptr;
        if (pool_module_load(device_, image, size, &made))
            return error::last();
        return kernel_module(made);
    }
    result<kernel_module> compile(const pool_module_params &params) const
    {
        pool_module *made = nullptr;
        if (pool_module_compile(device_, &params, &made))
            return error::last();
        return kernel_module(made);
    }
    result<kernel_module> compile(const std::string &source) const
    {
        auto wanted = params<pool_module_params>();
        wanted.source = source.c_str();
        return compile(wanted);
    }
    result<void> synchronize() const
    {
        return check(pool_device_synchronize(device_));
    }

  private:
    pool_device *device_;
};

/* Bytes and slots that are reserved on devices until it is destroyed. */
class lease : public owner<pool_lease, pool_release>
{
  public:
    using owner::owner;

    std::uint32_t device_count() const
    {
        return pool_lease_device_count(get());
    }
    result<devicepool::device> device(std::uint32_t index = 0) const
    {
        pool_device *found = nullptr;
        if (pool_lease_device(get(), index, &found))
            return error::last();
        return devicepool::device(found);
    }
    result<pool_lease_info> info() const
    {
        auto info = params<pool_lease_info>();
        if (pool_lease_get_info(get(), &info))
            return error::last();
        return info;
    }
    result<pool_lease_usage> usage(std::uint32_t index = 0) const
    {
        auto usage = params<pool_lease_usage>();
        if (pool_lease_get_usage(get(), index, &usage))
            return error::last();
        return usage;
    }
};

inline result<buffer> device::alloc(
    std::uint64_t size, std::uint32_t flags, const lease *under) const
{
    auto wanted = params<pool_buffer_params>();
    pool_buffer *made = nullptr;
    wanted.bytes = size;
    wanted.flags = flags;
    wanted.lease = under ? under->get() : nullptr;
    if (pool_buffer_create(device_, &wanted, &made))
        return error::last();
    return buffer(made);
}

/* What a job requests; further members of pool_request in `more`. */
struct request {
    std::uint64_t bytes = 0;
    std::uint32_t devices = 1;
    std::chrono::nanoseconds timeout = forever;
    const devicepool::cancel *cancel = nullptr;
    pool_request more = params<pool_request>();

    pool_request get() const
    {
        pool_request wanted = more;
        wanted.bytes = bytes;
        wanted.devices = devices;
        wanted.timeout_ns = nanoseconds(timeout);
        wanted.cancel = cancel ? cancel->get() : nullptr;
        return wanted;
    }
};

/* The devices of a host. */
class pool : public owner<device_pool, pool_destroy>
{
  public:
    using owner::owner;

    /* `devices` as in pool_params: "all", "0,2-3", "sim:4"; NULL: DEVICEPOOL_DEVICES, or all. */
    static result<pool> create(const char *devices = nullptr)
    {
        auto wanted = params<pool_params>();
        wanted.devices = devices;
        return create(wanted);
    }
    static result<pool> create(const pool_params &wanted)
    {
        device_pool *made = nullptr;
        if (pool_create(&made, &wanted))
            return error::last();
        return pool(made);
    }

    std::size_t size() const
    {
        return pool_device_count(get());
    }
    std::size_t usable() const
    {
        return pool_usable_count(get());
    }
    result<device> at(std::size_t index) const
    {
        return found([&](pool_device **to) { return pool_device_at(get(), index, to); });
    }
    result<device> next() const
    {
        return found([&](pool_device **to) { return pool_next_device(get(), to); });
    }
    result<device> best() const
    {
        return found([&](pool_device **to) { return pool_best_device(get(), to); });
    }
    result<device> by_uuid(const std::string &uuid) const
    {
        return found(
            [&](pool_device **to) { return pool_device_by_uuid(get(), uuid.c_str(), to); });
    }
    /* The device that this thread has bound. */
    result<device> bound() const
    {
        return found([&](pool_device **to) { return pool_bound_device(get(), to); });
    }
    /* By policy, of those for which `filter`, if there is one, returns true. */
    result<device> pick(pool_policy policy, std::function<bool(const pool_candidate &)> filter = {},
        std::uint64_t min_free_bytes = 0) const
    {
        auto wanted = params<pool_pick>();
        wanted.policy = policy;
        wanted.min_free_bytes = min_free_bytes;
        wanted.user = &filter;
        if (filter)
            wanted.filter = [](void *user, const pool_candidate *candidate) -> int {
                return (*static_cast<std::function<bool(const pool_candidate &)> *>(user))(
                    *candidate);
            };
        return found([&](pool_device **to) { return pool_pick_device(get(), &wanted, to); });
    }
    /* The one with the highest score. */
    result<device> pick(std::function<double(const pool_candidate &)> score) const
    {
        auto wanted = params<pool_pick>();
        wanted.policy = POOL_POLICY_SCORE;
        wanted.user = &score;
        wanted.score = [](void *user, const pool_candidate *candidate) {
            return (*static_cast<std::function<double(const pool_candidate &)> *>(user))(
                *candidate);
        };
        return found([&](pool_device **to) { return pool_pick_device(get(), &wanted, to); });
    }
    result<pool_health_info> health() const
    {
        auto info = params<pool_health_info>();
        if (pool_get_health(get(), &info))
            return error::last();
        return info;
    }
    result<std::string> describe(pool_text_format format = POOL_TEXT_PLAIN) const
    {
        char *text = nullptr;
        if (pool_describe(get(), format, &text))
            return error::last();
        std::string copy(text);
        pool_text_free(&text);
        return copy;
    }
    /* Waits for a lease. */
    result<lease> acquire(const request &wanted) const
    {
        pool_request asked = wanted.get();
        pool_lease *made = nullptr;
        if (pool_acquire(get(), &asked, &made))
            return error::last();
        return lease(made);
    }
    /* The same without a thread that waits; `wanted.cancel` withdraws it, and must outlive the
     * future's result. */
    std::future<result<lease>> acquire_async(const request &wanted) const
    {
        struct waiting {
            std::promise<result<lease>> promise;
            pool_error_slot slot = params<pool_error_slot>();
        };
        auto waits = std::make_unique<waiting>();
        auto future = waits->promise.get_future();
        pool_request asked = wanted.get();
        pool_ticket *ticket = nullptr;
        asked.error = &waits->slot;
        auto decided = [](void *user, pool_ticket *of) {
            std::unique_ptr<waiting> mine(static_cast<waiting *>(user));
            pool_lease *made = nullptr;
            pool_status status = pool_ticket_take(of, &made);
            (void)pool_ticket_destroy(&of);
            if (status)
                mine->promise.set_value(error::of(mine->slot));
            else
                mine->promise.set_value(lease(made));
        };
        waiting *given = waits.release(); /* the hook may have run before the call returns */
        if (pool_acquire_async(get(), &asked, decided, given, &ticket)) {
            waits.reset(given);
            waits->promise.set_value(error::last());
        }
        return future;
    }

  private:
    template <class F> static result<device> found(F find)
    {
        pool_device *to = nullptr;
        if (find(&to))
            return error::last();
        return device(to);
    }
};

/* ---- mathematics ------------------------------------------------------------------------------
 */

/* A prime field. */
class field : public owner<pool_field, pool_field_destroy>
{
  public:
    using owner::owner;

    static result<field> named(const char *name)
    {
        const pool_field *found = pool_field_by_name(name);
        if (!found)
            return error::last();
        return of(found);
    }
    static result<field> create(const std::string &modulus)
    {
        auto wanted = params<pool_field_params>();
        pool_field *made = nullptr;
        wanted.modulus = modulus.c_str();
        if (pool_field_create(&wanted, &made))
            return error::last();
        return field(made);
    }
    /* With a reference of its own. */
    static field of(const pool_field *from)
    {
        return field(pool_field_retain(from));
    }

    std::size_t element_bytes() const
    {
        return pool_field_element_bytes(get());
    }
    bytes modulus() const
    {
        bytes written(element_bytes());
        (void)pool_field_modulus(get(), written.data());
        return written;
    }
    result<bytes> root_of_unity(std::uint32_t log2_order, const char *convention = nullptr) const
    {
        bytes root(element_bytes());
        if (pool_field_root_of_unity(
                get(), convention, log2_order, POOL_FORM_STANDARD, root.data()))
            return error::last();
        return root;
    }
    /* For tests, not for secrets. */
    result<bytes> random(std::size_t count, std::uint64_t seed) const
    {
        bytes elements(count * element_bytes());
        if (pool_random_scalars(get(), seed, count, POOL_FORM_STANDARD, elements.data()))
            return error::last();
        return elements;
    }
    result<bytes> to_montgomery(const bytes &standard) const
    {
        bytes converted(standard.size());
        if (pool_field_to_montgomery(
                get(), standard.data(), standard.size() / element_bytes(), converted.data()))
            return error::last();
        return converted;
    }
};

/* A curve. */
class curve : public owner<pool_curve, pool_curve_destroy>
{
  public:
    using owner::owner;

    static result<curve> named(const char *name)
    {
        const pool_curve *found = pool_curve_by_name(name);
        if (!found)
            return error::last();
        return curve(pool_curve_retain(found));
    }
    static result<curve> create(const pool_curve_params &wanted)
    {
        pool_curve *made = nullptr;
        if (pool_curve_create(&wanted, &made))
            return error::last();
        return curve(made);
    }
    field scalar_field() const
    {
        return field::of(pool_curve_scalar_field(get()));
    }
    std::size_t point_bytes(pool_point_layout layout = POOL_POINT_AFFINE) const
    {
        return pool_point_bytes(get(), layout);
    }

    result<bytes> generator() const
    {
        bytes point(point_bytes());
        if (pool_curve_generator(get(), nullptr, point.data()))
            return error::last();
        return point;
    }
    /* On the host: for checking results. Affine points in standard form. */
    result<bytes> add(const bytes &p, const bytes &q) const
    {
        bytes sum(point_bytes());
        if (p.size() != sum.size() || q.size() != sum.size())
            return error::refused("a point of another size");
        if (pool_point_add(get(), nullptr, p.data(), q.data(), sum.data()))
            return error::last();
        return sum;
    }
    result<bytes> multiply(const bytes &p, const bytes &scalar) const
    {
        bytes product(point_bytes());
        if (p.size() != product.size())
            return error::refused("a point of another size");
        if (pool_point_mul(get(), nullptr, p.data(), scalar.data(), scalar.size(), product.data()))
            return error::last();
        return product;
    }
    /* Points, and the scalars by which they are multiples of the generator: for tests. */
    result<std::pair<bytes, bytes>> random_points(std::size_t count, std::uint64_t seed) const
    {
        std::pair<bytes, bytes> made(count * point_bytes(), count * scalar_field().element_bytes());
        if (pool_random_points(get(), seed, count, nullptr, made.first.data(), made.second.data()))
            return error::last();
        return made;
    }
    result<bytes> encode(const bytes &points, pool_encoding encoding) const
    {
        std::size_t count = points.size() / point_bytes();
        bytes encoded(count * pool_encoding_bytes(get(), encoding));
        if (pool_points_encode(get(), nullptr, points.data(), count, encoding, 0, encoded.data()))
            return error::last();
        return encoded;
    }
    result<bytes> decode(const bytes &encoded, pool_encoding encoding,
        std::uint32_t checks = POOL_CHECK_SUBGROUP) const
    {
        std::size_t size = pool_encoding_bytes(get(), encoding),
                    count = size ? encoded.size() / size : 0;
        bytes points(count * point_bytes());
        if (pool_points_decode(
                get(), encoding, 0, encoded.data(), count, checks, nullptr, points.data()))
            return error::last();
        return points;
    }
};

/* ---- operations -------------------------------------------------------------------------------
 */

/* Where and how an operation runs; further members of pool_exec in `more`. */
struct where {
    devicepool::device device;
    const devicepool::lease *lease = nullptr;
    const devicepool::stream *stream = nullptr;
    bool is_async = false; /* on `stream`, as in pool_exec */
    std::uint32_t checks = POOL_CHECK_NONE;
    const devicepool::cancel *cancel = nullptr;
    std::function<void(std::uint64_t done, std::uint64_t total)> progress; /* must not throw */
    std::chrono::nanoseconds timeout{0};
    pool_exec more = params<pool_exec>();

    where() = default;
    where(devicepool::device on) : device(on)
    {
    }
    where(const devicepool::lease &under) : lease(&under)
    {
    }

    pool_exec get() const
    {
        pool_exec exec = more;
        exec.device = device.get();
        exec.lease = lease ? lease->get() : nullptr;
        exec.stream = stream ? stream->get() : nullptr;
        exec.is_async = is_async;
        exec.checks = checks;
        exec.cancel = cancel ? cancel->get() : nullptr;
        exec.timeout_ns = nanoseconds(timeout);
        if (progress) {
            exec.user = const_cast<where *>(this);
            exec.progress = [](void *user, std::uint64_t done, std::uint64_t total) {
                static_cast<const where *>(user)->progress(done, total);
            };
        }
        return exec;
    }
};

/* Base points that stay on a device. */
class bases : public owner<pool_bases, pool_bases_destroy>
{
  public:
    using owner::owner;

    static result<bases> create(const curve &of, const input &points, const where &place,
        std::uint32_t precompute_factor = 0)
    {
        auto wanted = params<pool_bases_params>();
        auto span = points.items(of.point_bytes());
        pool_exec exec = place.get();
        pool_bases *made = nullptr;
        if (!span)
            return span.error();
        wanted.curve = of.get();
        wanted.precompute_factor = precompute_factor;
        if (pool_bases_create(&wanted, &exec, &*span, &made))
            return error::last();
        return bases(made);
    }
    std::uint64_t count() const
    {
        return pool_bases_count(get());
    }
};

/* MSMs with further params, into memory of the caller; `points` NULL: `wanted.bases`. */
inline result<void> msm(const curve &of, pool_msm_params wanted, const input *points,
    const input &scalars, const output &results, const where &place)
{
    auto from_points = points ? points->items(of.point_bytes(wanted.point_layout))
                              : result<pool_span>(pool_span{});
    auto from_scalars = scalars.items(pool_field_element_bytes(pool_curve_scalar_field(of.get())));
    auto to = results.items(of.point_bytes(wanted.result_layout));
    pool_exec exec = place.get();
    if (!from_points)
        return from_points.error();
    if (!from_scalars)
        return from_scalars.error();
    if (!to)
        return to.error();
    wanted.curve = of.get();
    return check(pool_msm(&wanted, &exec, points ? &*from_points : nullptr, &*from_scalars, &*to));
}

/* The sum of scalars times points. */
inline result<bytes> msm(
    const curve &of, const input &points, const input &scalars, const where &place)
{
    bytes sum(of.point_bytes());
    auto done = msm(of, params<pool_msm_params>(), &points, scalars, output(sum), place);
    if (!done)
        return done.error();
    return sum;
}
inline result<bytes> msm(
    const curve &of, const bases &points, const input &scalars, const where &place = {})
{
    auto wanted = params<pool_msm_params>();
    bytes sum(of.point_bytes());
    wanted.bases = points.get();
    auto done = msm(of, wanted, nullptr, scalars, output(sum), place);
    if (!done)
        return done.error();
    return sum;
}

/* A multiplicative subgroup, for transforms. Its tables are on the devices that have used it:
 * declare it after the pool. */
class domain : public owner<pool_ntt_domain, pool_ntt_domain_destroy>
{
  public:
    using owner::owner;

    static result<domain> create(const field &of, std::uint32_t log_size)
    {
        auto wanted = params<pool_ntt_domain_params>();
        wanted.field = of.get();
        wanted.log_size = log_size;
        return create(wanted);
    }
    static result<domain> create(const pool_ntt_domain_params &wanted)
    {
        pool_ntt_domain *made = nullptr;
        if (pool_ntt_domain_create(&wanted, &made))
            return error::last();
        return domain(made);
    }
};

/* Transforms `in` to `out`, which may be the same memory; `wanted` has direction, order, coset,
 * batch. */
inline result<void> ntt(const domain &of, const input &in, const output &out, const where &place,
    pool_ntt_params wanted = params<pool_ntt_params>())
{
    std::size_t size = pool_field_element_bytes(pool_ntt_domain_field(of.get()));
    auto from = in.items(size), to = out.items(size);
    pool_exec exec = place.get();
    if (!from)
        return from.error();
    if (!to)
        return to.error();
    wanted.domain = of.get();
    return check(pool_ntt(&wanted, &exec, &*from, &*to));
}

/* A Poseidon parameter set. */
class poseidon : public owner<pool_poseidon, pool_poseidon_destroy>
{
  public:
    using owner::owner;

    static result<poseidon> named(const char *name)
    {
        pool_poseidon *made = nullptr;
        if (pool_poseidon_by_name(name, &made))
            return error::last();
        return poseidon(made);
    }
    devicepool::field field() const
    {
        return devicepool::field::of(pool_poseidon_field(get()));
    }
    std::size_t digest_bytes() const
    {
        return pool_poseidon_digest_elements(get()) *
               pool_field_element_bytes(pool_poseidon_field(get()));
    }
    /* A digest for each `elements` elements. */
    result<bytes> hash(const input &items, std::uint32_t elements, const where &place) const
    {
        std::size_t size = elements * pool_field_element_bytes(pool_poseidon_field(get()));
        return compute(items, size, digest_bytes(), place,
            [&](const pool_exec &exec, const pool_span &in, const pool_span &out) {
                return pool_poseidon_hash(get(), &exec, &in, elements, &out);
            });
    }
    result<bytes> permute(const input &states, const where &place) const
    {
        std::size_t size =
            pool_poseidon_width(get()) * pool_field_element_bytes(pool_poseidon_field(get()));
        return compute(states, size, size, place,
            [&](const pool_exec &exec, const pool_span &in, const pool_span &out) {
                return pool_poseidon_permute(get(), &exec, &in, &out);
            });
    }
    /* All levels of a tree of digests, the root last. */
    result<bytes> merkle(const input &leaves, std::uint32_t arity, const where &place) const
    {
        auto wanted = params<pool_merkle_params>();
        auto shape = params<pool_merkle_shape>();
        auto from = leaves.items(digest_bytes());
        pool_exec exec = place.get();
        if (!from)
            return from.error();
        wanted.arity = arity;
        if (pool_merkle_get_shape(get(), &wanted, from->count, &shape))
            return error::last();
        bytes levels(shape.bytes);
        auto to = output(levels).items(digest_bytes());
        if (!to)
            return to.error();
        if (pool_poseidon_merkle_build(get(), &exec, &wanted, &*from, &*to))
            return error::last();
        return levels;
    }

  private:
    template <class F>
    result<bytes> compute(const input &items, std::size_t from_bytes, std::size_t to_bytes,
        const where &place, F call) const
    {
        auto from = items.items(from_bytes);
        pool_exec exec = place.get();
        if (!from)
            return from.error();
        bytes computed(from->count * to_bytes);
        auto to = output(computed).items(to_bytes);
        if (!to)
            return to.error();
        if (call(exec, *from, *to))
            return error::last();
        return computed;
    }
};

using vector_two = pool_status (*)(
    const pool_field *, const pool_exec *, const pool_span *, const pool_span *, const pool_span *);
using vector_one = pool_status (*)(
    const pool_field *, const pool_exec *, const pool_span *, const pool_span *);

/* Element-wise: pool_vector_add, pool_vector_sub, pool_vector_mul. */
inline result<void> vector(vector_two function, const field &of, const input &a, const input &b,
    const output &out, const where &place)
{
    auto first = a.items(of.element_bytes()), second = b.items(of.element_bytes()),
         to = out.items(of.element_bytes());
    pool_exec exec = place.get();
    if (!first || !second || !to)
        return !first ? first.error() : !second ? second.error() : to.error();
    return check(function(of.get(), &exec, &*first, &*second, &*to));
}

/* pool_vector_inverse, pool_vector_bit_reverse. */
inline result<void> vector(
    vector_one function, const field &of, const input &a, const output &out, const where &place)
{
    auto from = a.items(of.element_bytes()), to = out.items(of.element_bytes());
    pool_exec exec = place.get();
    if (!from || !to)
        return !from ? from.error() : to.error();
    return check(function(of.get(), &exec, &*from, &*to));
}

/* out[i] = scalar a[i] */
inline result<void> scale(
    const field &of, const bytes &scalar, const input &a, const output &out, const where &place)
{
    auto from = a.items(of.element_bytes()), to = out.items(of.element_bytes());
    pool_exec exec = place.get();
    if (!from || !to)
        return !from ? from.error() : to.error();
    if (scalar.size() != of.element_bytes())
        return error::refused("the scalar is no element of the field");
    return check(pool_vector_scale(of.get(), &exec, scalar.data(), &*from, &*to));
}

} // namespace devicepool

#endif
