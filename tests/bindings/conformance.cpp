/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of rows.txt by devicepool.hpp.
 * usage: conformance rows.txt
 */
#include <devicepool/devicepool.hpp>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

namespace dp = devicepool;
using dp::bytes;
using words = std::vector<std::string>;

static std::map<std::string, bytes> named;
static dp::pool shared;
static dp::device device;

static bytes content(const std::string &word)
{
    bytes made;

    if (word[0] == '@')
        return named.at(word.substr(1));
    for (std::size_t i = 0; i + 1 < word.size(); i += 2)
        made.push_back(static_cast<std::uint8_t>(std::stoul(word.substr(i, 2), nullptr, 16)));
    return made;
}

static std::string shown(const bytes &answer)
{
    std::uint64_t hash = 0xcbf29ce484222325;
    std::string text;
    char digits[24];

    for (std::uint8_t byte : answer) {
        std::snprintf(digits, sizeof(digits), "%02x", byte);
        text += digits;
        hash = (hash ^ byte) * 0x100000001b3;
    }
    if (answer.size() <= 64)
        return text;
    std::snprintf(digits, sizeof(digits), "fnv:%016llx", static_cast<unsigned long long>(hash));
    return digits;
}

static bytes elements(const dp::field &field, const std::string &word)
{
    std::size_t size = field.element_bytes(), count = std::stoul(word.substr(word.find(':') + 1));
    std::uint64_t start = std::stoull(word);
    bytes made(count * size);

    for (std::size_t i = 0; i < count; i++) {
        std::uint64_t value = start + i;
        std::memcpy(&made[i * size], &value, size < 8 ? size : 8);
    }
    return made;
}

template <class T> static std::string name_of(const dp::result<T> &result)
{
    return result ? "POOL_OK" : result.error().name();
}

template <class T> static std::string failure(const dp::result<T> &result, bool with_code = false)
{
    std::string text = name_of(result) + " " + pool_error_class_name(result.error().harms());

    return with_code ? text + " " + std::to_string(result.error().driver_code) : text;
}

static dp::pool open(const std::string &devices, std::uint32_t slots = 0)
{
    auto params = dp::params<pool_params>();

    params.devices = devices.c_str();
    params.slots = slots;
    return dp::pool::create(params).value();
}

static std::string text(std::uint64_t number)
{
    return std::to_string(number);
}

static dp::kernel_module load(const std::string &image)
{
    bytes ptx = content(image);

    return device.load(ptx.data(), ptx.size()).value();
}

static std::string field_answer(const dp::field &field)
{
    return text(field.element_bytes()) + " " + shown(field.modulus());
}

static std::string row_pick_filter(const words &a)
{
    auto pool = open(a[0]);
    int index = std::stoi(a[1]);

    return text(static_cast<std::uint64_t>(pool.pick(POOL_POLICY_MOST_FREE,
                                                   [index](const pool_candidate &candidate) {
                                                       return pool_device_index(candidate.device) ==
                                                              index;
                                                   })
                                               .value()
                                               .index()));
}

static std::string row_bound(const words &a)
{
    auto pool = open(a[0]);
    std::vector<std::unique_ptr<dp::binding>> bindings;

    for (std::size_t i = 1; i < a.size(); i++)
        bindings.push_back(
            std::make_unique<dp::binding>(pool.at(std::stoul(a[i])).value().bind().value()));
    auto bound = pool.bound().value().index();
    while (!bindings.empty())
        bindings.pop_back();
    return text(static_cast<std::uint64_t>(bound));
}

static std::string row_pinned(const words &a)
{
    bytes from = content(a[0]);
    auto pinned = device.pinned(from.size()).value();
    auto buffer = device.alloc(from.size()).value();

    std::memcpy(pinned.data(), from.data(), from.size());
    buffer.write(pinned).value();
    return shown(buffer.read().value());
}

static std::string row_launch(const words &a)
{
    auto module = load(a[0]);
    std::uint32_t count = static_cast<std::uint32_t>(std::stoul(a[2]));
    std::uint32_t factor = static_cast<std::uint32_t>(std::stoul(a[3]));
    std::vector<std::uint32_t> numbers(count);

    for (std::uint32_t i = 0; i < count; i++)
        numbers[i] = i;
    auto buffer = device.upload(numbers).value();
    module.kernel(a[1].c_str())
        .value()
        .launch(dp::threads_for(count).value(), nullptr, buffer, factor, count)
        .value();
    return shown(buffer.read().value());
}

static std::string row_launch_error(const words &a)
{
    auto module = load(a[0]);
    auto buffer = device.alloc(4).value();

    return name_of(
        module.kernel(a[1].c_str()).value().launch(dp::threads_for(1).value(), nullptr, buffer));
}

static std::string row_vector(const words &a)
{
    auto field = dp::field::named(a[1].c_str()).value();
    bytes last = elements(field, a.back()), out(last.size());

    if (a[0] == "scale") {
        bytes scalar(field.element_bytes());
        scalar[0] = static_cast<std::uint8_t>(std::stoul(a[2]));
        dp::scale(field, scalar, last, out, device).value();
    } else if (a[0] == "inverse" || a[0] == "bit_reverse") {
        dp::vector(a[0] == "inverse" ? pool_vector_inverse : pool_vector_bit_reverse, field, last,
            out, device)
            .value();
    } else {
        dp::vector(a[0] == "add"   ? pool_vector_add
                   : a[0] == "sub" ? pool_vector_sub
                                   : pool_vector_mul,
            field, elements(field, a[2]), last, out, device)
            .value();
    }
    return shown(out);
}

static std::string row_ntt(const words &a)
{
    static const std::map<std::string, pool_ntt_order> orders = {
        {"nn", POOL_NTT_NN}, {"nr", POOL_NTT_NR}, {"rn", POOL_NTT_RN}, {"rr", POOL_NTT_RR}};
    auto field = dp::field::named(a[0].c_str()).value();
    auto domain = dp::domain::create(field, static_cast<std::uint32_t>(std::stoul(a[1]))).value();
    auto params = dp::params<pool_ntt_params>();
    bytes items = elements(field, a[7]);

    params.direction = a[2] == "inverse" ? POOL_NTT_INVERSE : POOL_NTT_FORWARD;
    params.coset = a[3] == "1";
    params.order = orders.at(a[4]);
    params.layout = a[5] == "columns" ? POOL_NTT_COLUMNS : POOL_NTT_ROWS;
    params.batch = std::stoull(a[6]);
    dp::ntt(domain, items, items, device, params).value();
    return shown(items);
}

static std::string row_ntt_error(const words &a)
{
    auto field = dp::field::named(a[0].c_str()).value();
    auto domain = dp::domain::create(field, static_cast<std::uint32_t>(std::stoul(a[1]))).value();
    bytes items = elements(field, a[2]);

    return name_of(dp::ntt(domain, items, items, device));
}

static std::string row_progress(const words &a)
{
    auto field = dp::field::named(a[0].c_str()).value();
    auto domain = dp::domain::create(field, static_cast<std::uint32_t>(std::stoul(a[1]))).value();
    auto params = dp::params<pool_ntt_params>();
    bytes items = field.random(std::stoul(a[2]) << std::stoul(a[1]), 1).value();
    std::string last;
    dp::where where(device);

    params.batch = std::stoull(a[2]);
    where.progress = [&](std::uint64_t done, std::uint64_t total) {
        last = text(done) + " " + text(total);
    };
    dp::ntt(domain, items, items, where, params).value();
    return last;
}

static std::string row_merkle(const words &a)
{
    auto poseidon = dp::poseidon::named(a[0].c_str()).value();
    bytes levels = poseidon
                       .merkle(elements(poseidon.field(), a[2]),
                           static_cast<std::uint32_t>(std::stoul(a[1])), device)
                       .value();

    return shown(
        bytes(levels.end() - static_cast<std::ptrdiff_t>(poseidon.digest_bytes()), levels.end()));
}

static std::string row_hash(const words &a)
{
    auto poseidon = dp::poseidon::named(a[0].c_str()).value();

    return shown(poseidon
                     .hash(elements(poseidon.field(), a[2]),
                         static_cast<std::uint32_t>(std::stoul(a[1])), device)
                     .value());
}

static std::string row_msm(const words &a)
{
    auto curve = dp::curve::named(a[0].c_str()).value();
    auto params = dp::params<pool_msm_params>();
    bytes points = content(a[1]), scalars = content(a[2]);
    dp::input from(points);

    params.batch = std::stoull(a[3]);
    params.shared_bases = a[4] == "1";
    bytes sums(params.batch * curve.point_bytes());
    dp::msm(curve, params, &from, scalars, sums, device).value();
    return shown(sums);
}

static std::string row_msm_bases(const words &a)
{
    auto curve = dp::curve::named(a[0].c_str()).value();
    std::uint32_t factor =
        a[3] == "all" ? POOL_PRECOMPUTE_ALL : static_cast<std::uint32_t>(std::stoul(a[3]));
    auto bases = dp::bases::create(curve, content(a[1]), device, factor).value();

    return shown(dp::msm(curve, bases, content(a[2])).value());
}

static std::string row_msm_device(const words &a)
{
    auto curve = dp::curve::named(a[0].c_str()).value();
    auto points = device.upload(content(a[1])).value(),
         scalars = device.upload(content(a[2])).value();
    auto sum = device.alloc(curve.point_bytes()).value();
    dp::input from(points);

    dp::msm(curve, dp::params<pool_msm_params>(), &from, scalars, sum, device).value();
    return shown(sum.read().value());
}

static std::string row_msm_async(const words &a)
{
    auto curve = dp::curve::named(a[0].c_str()).value();
    auto stream = device.stream().value();
    bytes points = content(a[1]), scalars = content(a[2]), sum(curve.point_bytes());
    dp::input from(points);
    dp::where where(device);

    where.stream = &stream;
    where.is_async = true;
    dp::msm(curve, dp::params<pool_msm_params>(), &from, scalars, sum, where).value();
    stream.synchronize().value();
    auto other =
        std::async(std::launch::async, [&] { return dp::msm(curve, points, scalars, device); });
    return other.get().value() == sum ? shown(sum) : "the two differ";
}

static std::string row_msm_lease(const words &a)
{
    auto curve = dp::curve::named(a[0].c_str()).value();
    dp::request request;

    request.bytes = std::stoull(a[3]);
    auto lease = shared.acquire(request).value();
    return shown(dp::msm(curve, content(a[1]), content(a[2]), lease).value());
}

static std::string row_msm_error(const words &a)
{
    dp::where where(device);

    where.checks = a[3] == "canonical" ? POOL_CHECK_CANONICAL : POOL_CHECK_ON_CURVE;
    return name_of(
        dp::msm(dp::curve::named(a[0].c_str()).value(), content(a[1]), content(a[2]), where));
}

static std::string row_cancelled(const words &a)
{
    auto cancel = dp::cancel::create().value();
    dp::where where(device);

    cancel.request();
    where.cancel = &cancel;
    return name_of(
        dp::msm(dp::curve::named(a[0].c_str()).value(), content(a[1]), content(a[2]), where));
}

static std::string row_point_multiply(const words &a)
{
    std::uint64_t scalar = std::stoull(a[2]);
    bytes number(8);

    std::memcpy(number.data(), &scalar, 8);
    return shown(dp::curve::named(a[0].c_str()).value().multiply(content(a[1]), number).value());
}

static std::string row_lease(const words &a)
{
    auto pool = open(a[0]);
    dp::request request;

    request.bytes = std::stoull(a[1]);
    request.devices = static_cast<std::uint32_t>(std::stoul(a[2]));
    auto lease = pool.acquire(request).value();
    return text(lease.info()->bytes) + " " + text(lease.device_count());
}

static std::string row_lease_used(const words &a)
{
    auto pool = open(a[0]);
    dp::request request;

    request.bytes = std::stoull(a[1]);
    auto lease = pool.acquire(request).value();
    auto buffer = lease.device()->alloc(std::stoull(a[2]), 0, &lease).value();
    return text(lease.usage()->used_bytes);
}

static std::string row_lease_exceeded(const words &a)
{
    auto pool = open(a[0]);
    dp::request request;

    request.bytes = std::stoull(a[1]);
    auto lease = pool.acquire(request).value();
    return name_of(lease.device()->alloc(std::stoull(a[2]), 0, &lease));
}

static std::string row_lease_slots(const words &a)
{
    auto pool = open(a[0]);
    dp::request request;

    request.more.slots = static_cast<std::uint32_t>(std::stoul(a[1]));
    return name_of(pool.acquire(request));
}

/* A lease of all slots. */
static dp::lease acquire_all(const dp::pool &pool)
{
    dp::request request;

    request.devices = static_cast<std::uint32_t>(pool.size());
    return pool.acquire(request).value();
}

static std::string row_lease_timeout(const words &a)
{
    auto pool = open(a[0], 1);
    auto all = acquire_all(pool);
    dp::request request;

    request.timeout = std::chrono::milliseconds(1);
    return name_of(pool.acquire(request));
}

static std::string row_ticket(const words &a)
{
    auto pool = open(a[0], 1);
    auto all = acquire_all(pool);
    dp::request request;

    request.bytes = std::stoull(a[1]);
    auto future = pool.acquire_async(request);
    if (future.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
        return "too early";
    all.close().value();
    return text(future.get().value().info()->bytes);
}

static std::string row_ticket_cancelled(const words &a)
{
    auto pool = open(a[0], 1);
    auto all = acquire_all(pool);
    auto cancel = dp::cancel::create().value();
    dp::request request;

    request.cancel = &cancel;
    auto future = pool.acquire_async(request);
    cancel.request();
    return name_of(future.get());
}

static std::string row_fault(const words &a)
{
    dp::check(pool_sim_set_faults(a[0].c_str())).value();
    auto answer = failure(device.alloc(1 << 20), true);
    dp::check(pool_sim_set_faults(nullptr)).value();
    return answer;
}

static std::string row_worker(const words &a)
{
    auto pool = open(a[0]);
    bytes message = {'w', 'o', 'r', 'k', 'e', 'r'};

    for (int i = 0; i < 1000; i++) {
        auto read = pool.at(0).value().upload(message).and_then(
            [](dp::buffer buffer) { return buffer.read(); });
        if (!read)
            return failure(read);
        if (*read != message)
            return "other bytes";
    }
    return "no failure";
}

static std::string row_poisoned(const words &a)
{
    static auto module = load(a[0]);
    static auto buffer = device.alloc(4).value();

    dp::check(pool_sim_set_faults(a[2].c_str())).value();
    return failure(module.kernel(a[1].c_str())
                       .value()
                       .launch(dp::threads_for(1).value(), nullptr, buffer, 1u, 1u)
                       .and_then([] { return device.synchronize(); }),
        true);
}

static const std::map<std::string, std::string (*)(const words &)> operations = {
    {"version", [](const words &) -> std::string { return pool_version_text(); }},
    {"devices", [](const words &a) { return text(open(a[0]).size()); }},
    {"next",
        [](const words &a) {
            auto pool = open(a[0]);
            std::string answer;
            for (std::uint64_t i = 0; i < std::stoull(a[1]); i++)
                answer += (i ? " " : "") + std::to_string(pool.next().value().index());
            return answer;
        }},
    {"best",
        [](const words &a) {
            auto pool = open(a[0]);
            return std::to_string(pool.best().value().index());
        }},
    {"pick_filter", row_pick_filter},
    {"pick_score",
        [](const words &a) {
            auto pool = open(a[0]);
            return std::to_string(pool.pick([](const pool_candidate &candidate) -> double {
                                          return pool_device_index(candidate.device);
                                      })
                                      .value()
                                      .index());
        }},
    {"by_uuid",
        [](const words &a) {
            auto pool = open(a[0]);
            return std::to_string(
                pool.by_uuid(pool.at(std::stoul(a[1])).value().uuid()).value().index());
        }},
    {"total",
        [](const words &a) {
            auto pool = open(a[0]);
            return text(pool.at(0).value().info().value().total_bytes);
        }},
    {"health",
        [](const words &a) {
            auto pool = open(a[0]);
            auto health = pool.health().value();
            return pool_error_class_name(health.harmed) + (" " + text(health.devices)) + " " +
                   text(health.usable_devices);
        }},
    {"create_error", [](const words &a) { return failure(dp::pool::create(a[0].c_str())); }},
    {"bound", row_bound},
    {"not_bound",
        [](const words &a) {
            auto pool = open(a[0]);
            return name_of(pool.bound());
        }},
    {"copy",
        [](const words &a) { return shown(device.upload(content(a[0])).value().read().value()); }},
    {"slice",
        [](const words &a) {
            auto buffer = device.upload(content(a[0])).value();
            return shown(buffer.slice(std::stoull(a[1]), std::stoull(a[2])).value().read().value());
        }},
    {"fill",
        [](const words &a) {
            auto buffer = device.alloc(std::stoull(a[0]), POOL_BUFFER_ZEROED).value();
            buffer
                .fill(static_cast<std::uint8_t>(std::stoul(a[1])), std::stoull(a[2]),
                    std::stoull(a[3]))
                .value();
            return shown(buffer.read().value());
        }},
    {"copy_error",
        [](const words &a) {
            return name_of(
                device.alloc(std::stoull(a[1])).value().write(content(a[0]), std::stoull(a[2])));
        }},
    {"pinned", row_pinned},
    {"stream",
        [](const words &) -> std::string {
            auto stream = device.stream().value();
            stream.synchronize().value();
            return *stream.idle() ? "idle" : "busy";
        }},
    {"launch", row_launch},
    {"launch_error", row_launch_error},
    {"kernel_error", [](const words &a) { return name_of(load(a[0]).kernel(a[1].c_str())); }},
    {"image_error",
        [](const words &a) {
            bytes image = content(a[0]);
            return name_of(device.load(image.data(), image.size()));
        }},
    {"field", [](const words &a) { return field_answer(dp::field::named(a[0].c_str()).value()); }},
    {"field_custom", [](const words &a) { return field_answer(dp::field::create(a[0]).value()); }},
    {"field_error", [](const words &a) { return name_of(dp::field::create(a[0])); }},
    {"field_unknown", [](const words &a) { return name_of(dp::field::named(a[0].c_str())); }},
    {"root",
        [](const words &a) {
            auto field = dp::field::named(a[0].c_str()).value();
            return shown(field.root_of_unity(static_cast<std::uint32_t>(std::stoul(a[1]))).value());
        }},
    {"montgomery",
        [](const words &a) {
            auto field = dp::field::named(a[0].c_str()).value();
            return shown(field.to_montgomery(elements(field, a[1])).value());
        }},
    {"vector", row_vector},
    {"ntt", row_ntt},
    {"ntt_error", row_ntt_error},
    {"progress", row_progress},
    {"hash", row_hash},
    {"permute",
        [](const words &a) {
            return shown(
                dp::poseidon::named(a[0].c_str()).value().permute(content(a[1]), device).value());
        }},
    {"merkle", row_merkle},
    {"hash_unknown", [](const words &a) { return name_of(dp::poseidon::named(a[0].c_str())); }},
    {"msm", row_msm},
    {"msm_bases", row_msm_bases},
    {"msm_device", row_msm_device},
    {"msm_async", row_msm_async},
    {"msm_lease", row_msm_lease},
    {"msm_error", row_msm_error},
    {"cancelled", row_cancelled},
    {"encode",
        [](const words &a) {
            auto curve = dp::curve::named(a[0].c_str()).value();
            return shown(curve.encode(content(a[1]), POOL_ENCODING_ZCASH_COMPRESSED).value());
        }},
    {"decode_error",
        [](const words &a) {
            auto curve = dp::curve::named(a[0].c_str()).value();
            return name_of(curve.decode(content(a[1]), POOL_ENCODING_ZCASH_COMPRESSED));
        }},
    {"point_add",
        [](const words &a) {
            return shown(
                dp::curve::named(a[0].c_str()).value().add(content(a[1]), content(a[2])).value());
        }},
    {"point_multiply", row_point_multiply},
    {"lease", row_lease},
    {"lease_used", row_lease_used},
    {"lease_exceeded", row_lease_exceeded},
    {"lease_slots", row_lease_slots},
    {"lease_timeout", row_lease_timeout},
    {"ticket", row_ticket},
    {"ticket_cancelled", row_ticket_cancelled},
    {"fault", row_fault},
    {"worker", row_worker},
    {"poisoned", row_poisoned},
};

int main(int argc, char **argv)
{
    std::ifstream file(argc == 2 ? argv[1] : "");
    std::string line;

    shared = open("sim:3");
    device = shared.at(0).value();
    while (std::getline(file, line)) {
        std::istringstream stream(line);
        std::string kind, name, operation, word;
        words arguments;

        stream >> kind >> name >> operation;
        if (kind == "data")
            named[name] = content(operation);
        if (kind != "row")
            continue;
        while (stream >> word && word != "=")
            arguments.push_back(word);
        std::cout << name << " " << operations.at(operation)(arguments) << std::endl;
    }
    return 0;
}
