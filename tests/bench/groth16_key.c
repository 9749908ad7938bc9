/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a Groth16 key of any size with a witness that satisfies its circuit, as snarkjs writes
 * them: for measurements of proofs, and for tests.
 *
 *   groth16_key [--small] DEVICES CURVE LOG_DOMAIN KEY WITNESS VERIFICATION_KEY
 *
 * CURVE is bn254 or bls12_381. The trapdoor comes from a fixed seed, so everyone with this program
 * can forge proofs: such keys prove nothing.
 *
 * The circuit has 2^LOG_DOMAIN - 2 constraints. Constraint i is (x_i + a_i y_i) (x_i + b_i) =
 * x_(i+1), with y_i = x_(i-1), y_0 = 1 and random coefficients a_i and b_i, so the values are
 * random as well; the last one is the public signal. With the trapdoor, tau, alpha, beta, gamma and
 * delta, a point of the key is a scalar times a generator [Groth 2016, section 3.2]; H is the odd
 * half of the Lagrange basis of twice the domain, over delta (docs/formats.md).
 */
#include <inttypes.h>
#include <string.h>

#include "../../docs/examples/plain_field.h"
#include "bench_support.h"
#include "snarkjs_json.h"

enum { WINDOW = 8, WINDOWS = 32, DIGITS = 1 << WINDOW, CHUNK = 1 << 18, MAX_LOG_DOMAIN = 26 };
enum { MAX_POINT = 4 * POOL_FIELD_MAX_BYTES, ELEMENT = sizeof(element) };

/* Variables: 1, the public signal, then x_0 to x_(m-1). */
enum { ONE, PUBLIC, FIRST };
/* The trapdoor. */
enum { TAU, ALPHA, BETA, GAMMA, DELTA, X_0, SECRETS };

static const char source[] =
    "#include \"g.cuh\"\n"
    "\n"
    "/* table[256 w + d] = d 2^(8 w) G. */\n"
    "extern \"C\" __global__ void __launch_bounds__(128) multiply_generator(g_affine *points,\n"
    "    const unsigned char *scalars, const g_affine *table, unsigned count)\n"
    "{\n"
    "    unsigned i = blockIdx.x * 128 + threadIdx.x;\n"
    "    if (i >= count)\n"
    "        return;\n"
    "    g_xyzz sum = g_infinity();\n"
    "    for (unsigned w = 0; w < 32; w++) {\n"
    "        unsigned digit = scalars[32 * i + w];\n"
    "        if (digit)\n"
    "            sum = g_add_mixed(sum, table[256 * w + digit]);\n"
    "    }\n"
    "    points[i] = g_to_affine(sum);\n"
    "}\n";

/* Multiplies the generator of a group by scalars on the device. */
struct multiplier {
    const pool_curve *curve;
    pool_module *module;
    pool_kernel *kernel;
    pool_buffer *points, *scalars, *table;
    size_t point_bytes;
    uint8_t *host; /* points of a chunk */
};

struct circuit {
    const pool_curve *g1, *g2;
    const pool_field *field;
    uint32_t log_domain, constraints, variables;
    int is_small;        /* most values are 0, 1 or short */
    element one, square; /* 1 and 2^256 in Montgomery form */
    element secret[SECRETS], inverse_gamma, inverse_delta;
    element *a, *b;                     /* the coefficients */
    element *values;                    /* of the variables */
    element *lagrange;                  /* the basis at tau, two more than the constraints */
    element *at_a, *at_b, *at_c, *at_h; /* scalars of the points in each section */
    struct multiplier multiplier[2];    /* of G1 and G2 */
};

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memory;
}

static element power(const struct circuit *circuit, element base, uint64_t exponent)
{
    element result = circuit->one;

    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            result = plain_mul(result, base);
        base = plain_mul(base, base);
    }
    return result;
}

/* Inverts all elements in place; none may be 0. */
static void invert(const struct circuit *circuit, element *elements, size_t count)
{
    static const uint64_t two[LIMBS] = {2};
    element *prefixes = allocate(count + 1, ELEMENT), inverse = circuit->one, base;

    prefixes[0] = circuit->one;
    for (size_t i = 0; i < count; i++)
        prefixes[i + 1] = plain_mul(prefixes[i], elements[i]);
    base = prefixes[count]; /* to the power p - 2 */
    for (uint32_t i = 0, borrow = 0; i < LIMBS; i++) {
        uint64_t limb = plain_modulus[i] - two[i] - borrow;

        borrow = plain_modulus[i] < two[i] + borrow;
        for (int bit = 0; bit < 64; bit++, base = plain_mul(base, base))
            if (limb >> bit & 1)
                inverse = plain_mul(inverse, base);
    }
    for (size_t i = count; i-- > 0;) {
        element own = plain_mul(inverse, prefixes[i]);

        inverse = plain_mul(inverse, elements[i]);
        elements[i] = own;
    }
    free(prefixes);
}

/* A root of unity of order 2^log_order, of snarkjs' convention where the field has it. */
static element root_of_unity(const struct circuit *circuit, uint32_t log_order)
{
    element root;

    if (pool_field_root_of_unity(circuit->field, "snarkjs", log_order, POOL_FORM_MONTGOMERY, &root))
        MUST(
            pool_field_root_of_unity(circuit->field, NULL, log_order, POOL_FORM_MONTGOMERY, &root));
    return root;
}

/* Values first, first + step, ... of the Lagrange basis of 2^log_size points at tau. */
static element *lagrange_at_tau(
    const struct circuit *circuit, uint32_t log_size, uint32_t first, uint32_t step)
{
    size_t size = (size_t)1 << log_size, count = (size - first + step - 1) / step;
    element *basis = allocate(count, ELEMENT), root = root_of_unity(circuit, log_size);
    element point = power(circuit, root, first), next = power(circuit, root, step);
    element tau = circuit->secret[TAU], numerator, n = circuit->one;

    for (uint32_t i = 0; i < log_size; i++)
        n = plain_add(n, n);
    invert(circuit, &n, 1);
    numerator = plain_mul(n, plain_sub(power(circuit, tau, size), circuit->one));
    for (size_t i = 0; i < count; i++, point = plain_mul(point, next))
        basis[i] = plain_sub(tau, point);
    invert(circuit, basis, count);
    numerator = plain_mul(numerator, power(circuit, root, first));
    for (size_t i = 0; i < count; i++, numerator = plain_mul(numerator, next))
        basis[i] = plain_mul(basis[i], numerator);
    return basis;
}

static uint32_t x_of(const struct circuit *circuit, uint32_t index)
{
    return index == circuit->constraints ? PUBLIC : FIRST + index;
}

/* The second variable of the first factor of constraint i. */
static uint32_t y_of(const struct circuit *circuit, uint32_t index)
{
    return index ? x_of(circuit, index - 1) : ONE;
}

/* The values that random coefficients lead to. */
static void compute_values(struct circuit *circuit)
{
    element *values = circuit->values;

    for (uint32_t i = 0; i < circuit->constraints; i++) {
        element x = values[x_of(circuit, i)], y = values[y_of(circuit, i)];

        values[x_of(circuit, i + 1)] =
            plain_mul(plain_add(x, plain_mul(circuit->a[i], y)), plain_add(x, circuit->b[i]));
    }
}

/* A value of the distribution of witnesses: `random` decides, and is it now and then. */
static element draw_value(const struct circuit *circuit, element random, int after_zero)
{
    const unsigned tenths = (unsigned)(random.limb[0] >> 20) % 20; /* of half a tenth each */
    uint8_t standard[ELEMENT] = {0};
    element value;

    if (tenths == 19)
        return random;
    if (tenths < 8 && !after_zero)
        memset(&value, 0, sizeof(value));
    else if (tenths < 16)
        value = circuit->one;
    else {
        memcpy(standard, &random.limb[1], 4);
        MUST(pool_field_to_montgomery(circuit->field, standard, 1, &value));
    }
    return value;
}

/* Draws the values, and the coefficients b_i that lead to them. Two zeros in a row would make all
 * that follow zeros. */
static void draw_values(struct circuit *circuit)
{
    const uint32_t m = circuit->constraints;
    element *values = circuit->values, *factors = allocate(m, ELEMENT), zero;

    memset(&zero, 0, sizeof(zero));
    MUST(pool_random_scalars(circuit->field, 4, m, POOL_FORM_MONTGOMERY, factors));
    for (uint32_t i = 0; i < m; i++) {
        const element x = values[x_of(circuit, i)];

        values[x_of(circuit, i + 1)] =
            draw_value(circuit, factors[i], memcmp(&x, &zero, sizeof(zero)) == 0);
        factors[i] = plain_add(x, plain_mul(circuit->a[i], values[y_of(circuit, i)])); /* never 0 */
    }
    invert(circuit, factors, m);
    for (uint32_t i = 0; i < m; i++)
        circuit->b[i] = plain_sub(
            plain_mul(values[x_of(circuit, i + 1)], factors[i]), values[x_of(circuit, i)]);
    free(factors);
}

static void make_circuit(struct circuit *circuit)
{
    uint8_t standard[ELEMENT] = {1};
    uint32_t m = circuit->constraints = (1u << circuit->log_domain) - 2;

    circuit->variables = m + 2;
    MUST(pool_field_to_montgomery(circuit->field, standard, 1, &circuit->one));
    MUST(pool_field_to_montgomery(circuit->field, &circuit->one, 1, &circuit->square));
    MUST(pool_random_scalars(circuit->field, 1, SECRETS, POOL_FORM_MONTGOMERY, circuit->secret));
    circuit->a = allocate(m, ELEMENT);
    circuit->b = allocate(m, ELEMENT);
    MUST(pool_random_scalars(circuit->field, 2, m, POOL_FORM_MONTGOMERY, circuit->a));
    MUST(pool_random_scalars(circuit->field, 3, m, POOL_FORM_MONTGOMERY, circuit->b));
    element *values = circuit->values = allocate(circuit->variables, ELEMENT);
    values[ONE] = circuit->one;
    values[FIRST] = circuit->secret[X_0];
    if (circuit->is_small)
        draw_values(circuit);
    else
        compute_values(circuit);
}

static void add_to(element *sum, element summand)
{
    *sum = plain_add(*sum, summand);
}

/* The scalars of all points. */
static void evaluate_at_tau(struct circuit *circuit)
{
    uint32_t n = 1u << circuit->log_domain, m = circuit->constraints;
    const element *secret = circuit->secret;

    circuit->lagrange = lagrange_at_tau(circuit, circuit->log_domain, 0, 1);
    circuit->at_h = lagrange_at_tau(circuit, circuit->log_domain + 1, 1, 2);
    circuit->at_a = allocate(circuit->variables, ELEMENT);
    circuit->at_b = allocate(circuit->variables, ELEMENT);
    circuit->at_c = allocate(circuit->variables, ELEMENT);
    for (uint32_t i = 0; i < m; i++) {
        element value = circuit->lagrange[i];

        add_to(&circuit->at_a[x_of(circuit, i)], value);
        add_to(&circuit->at_a[y_of(circuit, i)], plain_mul(value, circuit->a[i]));
        add_to(&circuit->at_b[x_of(circuit, i)], value);
        add_to(&circuit->at_b[ONE], plain_mul(value, circuit->b[i]));
        add_to(&circuit->at_c[x_of(circuit, i + 1)], value);
    }
    for (uint32_t i = ONE; i <= PUBLIC; i++) /* the rows of the public signals */
        add_to(&circuit->at_a[i], circuit->lagrange[m + i]);
    circuit->inverse_gamma = secret[GAMMA];
    circuit->inverse_delta = secret[DELTA];
    invert(circuit, &circuit->inverse_gamma, 1);
    invert(circuit, &circuit->inverse_delta, 1);
    for (uint32_t i = 0; i < circuit->variables; i++) {
        element sum = plain_add(
            plain_mul(secret[BETA], circuit->at_a[i]), plain_mul(secret[ALPHA], circuit->at_b[i]));

        circuit->at_c[i] = plain_mul(plain_add(sum, circuit->at_c[i]),
            i <= PUBLIC ? circuit->inverse_gamma : circuit->inverse_delta);
    }
    for (uint32_t i = 0; i < n; i++)
        circuit->at_h[i] = plain_mul(circuit->at_h[i], circuit->inverse_delta);
}

/* ---- points --------------------------------------------------------------------------------- */

static void make_table(struct multiplier *multiplier)
{
    const pool_point_format format = {POOL_POINT_AFFINE, POOL_FORM_MONTGOMERY, 0};
    size_t size = multiplier->point_bytes;
    uint8_t *table = allocate((size_t)WINDOWS * DIGITS, size), base[MAX_POINT], *point;

    MUST(pool_curve_generator(multiplier->curve, &format, base));
    for (int window = 0; window < WINDOWS; window++) {
        point = table + (size_t)window * DIGITS * size;
        for (int digit = 1; digit < DIGITS; digit++, point += size)
            MUST(pool_point_add(multiplier->curve, &format, point, base, point + size));
        MUST(pool_point_add(multiplier->curve, &format, point, base, base));
    }
    MUST(pool_copy_to_device(multiplier->table, 0, table, (uint64_t)WINDOWS * DIGITS * size, NULL));
    free(table);
}

static void open_multiplier(
    struct multiplier *multiplier, pool_device *device, const pool_curve *curve)
{
    const pool_module_arithmetic arithmetic = {.prefix = "g", .curve = curve};
    const pool_module_params params = {.struct_size = sizeof(params),
        .source = source,
        .name = "groth16_key.cu",
        .arithmetic = &arithmetic,
        .arithmetic_count = 1};
    size_t size = pool_point_bytes(curve, POOL_POINT_AFFINE);

    multiplier->curve = curve;
    multiplier->point_bytes = size;
    multiplier->host = allocate(CHUNK, size);
    MUST(pool_module_compile(device, &params, &multiplier->module));
    MUST(pool_kernel_get(multiplier->module, "multiply_generator", &multiplier->kernel));
    MUST(pool_buffer_alloc(device, CHUNK * size, &multiplier->points));
    MUST(pool_buffer_alloc(device, (uint64_t)CHUNK * ELEMENT, &multiplier->scalars));
    MUST(pool_buffer_alloc(device, (uint64_t)WINDOWS * DIGITS * size, &multiplier->table));
    make_table(multiplier);
}

static void close_multiplier(struct multiplier *multiplier)
{
    MUST(pool_buffer_destroy(&multiplier->points));
    MUST(pool_buffer_destroy(&multiplier->scalars));
    MUST(pool_buffer_destroy(&multiplier->table));
    MUST(pool_module_destroy(&multiplier->module));
    free(multiplier->host);
}

/* Multiplies up to CHUNK scalars in standard form; the points are in multiplier->host. */
static void multiply_chunk(struct multiplier *multiplier, const element *standard, uint32_t count)
{
    pool_launch_shape shape = {.struct_size = sizeof(shape),
        .grid = {(count + 127) / 128, 1, 1},
        .block = {128, 1, 1},
        .argument_count = 4};
    CUdeviceptr points, scalars, table;
    void *arguments[] = {&points, &scalars, &table, &count};

    MUST(pool_buffer_address(multiplier->points, &points));
    MUST(pool_buffer_address(multiplier->scalars, &scalars));
    MUST(pool_buffer_address(multiplier->table, &table));
    MUST(pool_copy_to_device(multiplier->scalars, 0, standard, (uint64_t)count * ELEMENT, NULL));
    MUST(pool_launch(multiplier->kernel, &shape, arguments, NULL));
    MUST(pool_copy_to_host(
        multiplier->host, multiplier->points, 0, count * multiplier->point_bytes, NULL));
}

/* ---- files ---------------------------------------------------------------------------------- */

static void put(FILE *file, const void *bytes, size_t count)
{
    if (count && fwrite(bytes, 1, count, file) != count) {
        perror("write");
        exit(1);
    }
}

static void put32(FILE *file, uint32_t number)
{
    put(file, &number, 4); /* little-endian, as all hosts of the library */
}

static void put_section(FILE *file, uint32_t type, uint64_t bytes)
{
    put32(file, type);
    put(file, &bytes, 8);
}

static void put_prime(FILE *file, const pool_field *field)
{
    uint8_t modulus[POOL_FIELD_MAX_BYTES];
    uint32_t bytes = (uint32_t)pool_field_element_bytes(field);

    MUST(pool_field_modulus(field, modulus));
    put32(file, bytes);
    put(file, modulus, bytes);
}

static void put_points(
    FILE *file, struct circuit *circuit, int group, const element *scalars, uint32_t count)
{
    struct multiplier *multiplier = &circuit->multiplier[group];
    element *standard = allocate(CHUNK, ELEMENT);

    for (uint32_t first = 0; first < count; first += CHUNK) {
        uint32_t items = count - first < CHUNK ? count - first : CHUNK;

        MUST(pool_field_from_montgomery(circuit->field, scalars + first, items, standard));
        multiply_chunk(multiplier, standard, items);
        put(file, multiplier->host, items * multiplier->point_bytes);
    }
    free(standard);
}

static void put_points_section(FILE *file, struct circuit *circuit, uint32_t type, int group,
    const element *scalars, uint32_t count)
{
    put_section(file, type, (uint64_t)count * circuit->multiplier[group].point_bytes);
    put_points(file, circuit, group, scalars, count);
}

static void put_entry(
    FILE *file, const struct circuit *circuit, int matrix, uint32_t row, uint32_t signal, element v)
{
    element squared = plain_mul(v, circuit->square); /* v R^2 */

    put32(file, (uint32_t)matrix);
    put32(file, row);
    put32(file, signal);
    put(file, &squared, ELEMENT);
}

static void put_entries(FILE *file, const struct circuit *circuit)
{
    uint32_t m = circuit->constraints, count = 4 * m + 2;

    put_section(file, 4, 4 + (uint64_t)count * (12 + ELEMENT));
    put32(file, count);
    for (uint32_t i = 0; i < m; i++) {
        put_entry(file, circuit, 0, i, x_of(circuit, i), circuit->one);
        put_entry(file, circuit, 0, i, y_of(circuit, i), circuit->a[i]);
        put_entry(file, circuit, 1, i, x_of(circuit, i), circuit->one);
        put_entry(file, circuit, 1, i, ONE, circuit->b[i]);
    }
    for (uint32_t i = ONE; i <= PUBLIC; i++)
        put_entry(file, circuit, 0, m + i, i, circuit->one);
}

static void put_header(FILE *file, struct circuit *circuit)
{
    const size_t base = pool_field_element_bytes(pool_curve_base_field(circuit->g1));
    const element *secret = circuit->secret;

    put_section(file, 2, 4 + base + 4 + ELEMENT + 12 + 3 * 2 * base + 3 * 4 * base);
    put_prime(file, pool_curve_base_field(circuit->g1));
    put_prime(file, circuit->field);
    put32(file, circuit->variables);
    put32(file, PUBLIC);
    put32(file, 1u << circuit->log_domain);
    put_points(file, circuit, 0, &secret[ALPHA], 1);
    put_points(file, circuit, 0, &secret[BETA], 1);
    put_points(file, circuit, 1, &secret[BETA], 1);
    put_points(file, circuit, 1, &secret[GAMMA], 1);
    put_points(file, circuit, 0, &secret[DELTA], 1);
    put_points(file, circuit, 1, &secret[DELTA], 1);
}

static FILE *open_file(const char *path, const char *magic, uint32_t version, uint32_t sections)
{
    FILE *file = fopen(path, "wb");

    if (!file) {
        perror(path);
        exit(1);
    }
    if (magic) {
        put(file, magic, 4);
        put32(file, version);
        put32(file, sections);
    }
    return file;
}

static void close_file(FILE *file)
{
    if (fclose(file)) {
        perror("write");
        exit(1);
    }
}

static void write_key(struct circuit *circuit, const char *path)
{
    static const uint8_t no_contribution[68] = {0};
    uint32_t variables = circuit->variables;
    FILE *file = open_file(path, "zkey", 1, 10);

    put_section(file, 1, 4);
    put32(file, 1); /* Groth16 */
    put_header(file, circuit);
    put_points_section(file, circuit, 3, 0, circuit->at_c, FIRST);
    put_entries(file, circuit);
    put_points_section(file, circuit, 5, 0, circuit->at_a, variables);
    put_points_section(file, circuit, 6, 0, circuit->at_b, variables);
    put_points_section(file, circuit, 7, 1, circuit->at_b, variables);
    put_points_section(file, circuit, 8, 0, circuit->at_c + FIRST, variables - FIRST);
    put_points_section(file, circuit, 9, 0, circuit->at_h, 1u << circuit->log_domain);
    put_section(file, 10, sizeof(no_contribution));
    put(file, no_contribution, sizeof(no_contribution));
    close_file(file);
}

static void write_witness(const struct circuit *circuit, const char *path)
{
    element *standard = allocate(circuit->variables, ELEMENT);
    FILE *file = open_file(path, "wtns", 2, 2);

    MUST(pool_field_from_montgomery(circuit->field, circuit->values, circuit->variables, standard));
    put_section(file, 1, 4 + ELEMENT + 4);
    put_prime(file, circuit->field);
    put32(file, circuit->variables);
    put_section(file, 2, (uint64_t)circuit->variables * ELEMENT);
    put(file, standard, (size_t)circuit->variables * ELEMENT);
    close_file(file);
    free(standard);
}

/* One point in the JSON of snarkjs. */
static void write_point(
    FILE *file, struct circuit *circuit, const char *name, int group, const element *scalar)
{
    const pool_point_format montgomery = {POOL_POINT_AFFINE, POOL_FORM_MONTGOMERY, 0};
    const pool_curve *curve = group ? circuit->g2 : circuit->g1;
    uint8_t point[MAX_POINT];
    element standard;

    MUST(pool_field_from_montgomery(circuit->field, scalar, 1, &standard));
    multiply_chunk(&circuit->multiplier[group], &standard, 1);
    MUST(pool_points_convert(
        curve, &montgomery, circuit->multiplier[group].host, 1, POOL_CHECK_ON_CURVE, NULL, point));
    snarkjs_write_point(file, name, curve, point);
}

static void write_verification_key(struct circuit *circuit, const char *path)
{
    FILE *file = open_file(path, NULL, 0, 0);

    fprintf(file, "{\n \"protocol\": \"groth16\",\n \"curve\": \"%s\",\n \"nPublic\": 1,\n",
        snarkjs_curve_name(circuit->g1));
    write_point(file, circuit, "vk_alpha_1", 0, &circuit->secret[ALPHA]);
    write_point(file, circuit, "vk_beta_2", 1, &circuit->secret[BETA]);
    write_point(file, circuit, "vk_gamma_2", 1, &circuit->secret[GAMMA]);
    write_point(file, circuit, "vk_delta_2", 1, &circuit->secret[DELTA]);
    fputs(" \"IC\": [", file);
    for (uint32_t i = 0; i < FIRST; i++) {
        fputs(i ? ",\n" : "\n", file);
        write_point(file, circuit, NULL, 0, &circuit->at_c[i]);
    }
    fputs("]\n}\n", file);
    close_file(file);
}

static void free_circuit(struct circuit *circuit)
{
    close_multiplier(&circuit->multiplier[0]);
    close_multiplier(&circuit->multiplier[1]);
    free(circuit->a);
    free(circuit->b);
    free(circuit->values);
    free(circuit->lagrange);
    free(circuit->at_a);
    free(circuit->at_b);
    free(circuit->at_c);
    free(circuit->at_h);
}

int main(int count, char **arguments)
{
    struct circuit circuit = {0};
    device_pool *pool = NULL;
    pool_device *device;
    char name[32];

    if (count == 8 && strcmp(arguments[1], "--small") == 0) {
        circuit.is_small = 1;
        arguments++;
        count--;
    }
    if (count != 7 || strlen(arguments[2]) > 16)
        return fprintf(stderr, "usage: groth16_key [--small] DEVICES CURVE LOG_DOMAIN KEY WITNESS "
                               "VERIFICATION_KEY\n"),
               2;
    snprintf(name, sizeof(name), "%s_g1", arguments[2]);
    circuit.g1 = pool_curve_by_name(name);
    snprintf(name, sizeof(name), "%s_g2", arguments[2]);
    circuit.g2 = pool_curve_by_name(name);
    circuit.log_domain = (uint32_t)strtoul(arguments[3], NULL, 10);
    circuit.field = circuit.g1 ? pool_curve_scalar_field(circuit.g1) : NULL;
    if (!circuit.g2 || pool_field_element_bytes(circuit.field) != ELEMENT)
        return fprintf(stderr, "CURVE must be bn254 or bls12_381\n"), 2;
    if (circuit.log_domain < 2 || circuit.log_domain > MAX_LOG_DOMAIN)
        return fprintf(stderr, "LOG_DOMAIN must be 2 to %d\n", MAX_LOG_DOMAIN), 2;
    plain_set_field(circuit.field);
    device = open_device(*arguments[1] ? arguments[1] : NULL, &pool);
    MUST(pool_bind(device));
    make_circuit(&circuit);
    evaluate_at_tau(&circuit);
    open_multiplier(&circuit.multiplier[0], device, circuit.g1);
    open_multiplier(&circuit.multiplier[1], device, circuit.g2);
    write_key(&circuit, arguments[4]);
    write_witness(&circuit, arguments[5]);
    write_verification_key(&circuit, arguments[6]);
    free_circuit(&circuit);
    MUST(pool_unbind(device));
    MUST(pool_destroy(&pool));
    return 0;
}
