/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Poseidon on the host against known answers made by others: permutations in the form of the
 * definition and in the short form, hashes, sponges.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <devicepool.h>

#include "support/vectors.h"
#include "zk/poseidon/poseidon.h"

static const char *const files[] = {"circom", "eip-5988", "horizenlabs", "light-poseidon", "mina",
    "neptune", "noir", "o1js", "plonky2", "plonky3", "poseidon-bls12381", "starknet", "taceo",
    "zcash"};
enum { FILE_COUNT = sizeof(files) / sizeof(files[0]) };

static cJSON *open_file(const char *name)
{
    char path[128];

    snprintf(path, sizeof(path), "poseidon/%s.json", name);
    return read_vectors(path);
}

/* Packed standard elements of a JSON array of hexadecimal texts; returns how many. */
static size_t read_elements(
    const pool_field *field, const cJSON *object, const char *key, unsigned char *packed)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(object, key);
    const cJSON *item;
    size_t count = 0;

    cJSON_ArrayForEach(item, array)
    {
        assert_int_equal(pool_field_parse(field, cJSON_GetStringValue(item), POOL_FORM_STANDARD,
                             packed + count * pool_field_element_bytes(field)),
            POOL_OK);
        count++;
    }
    return count;
}

static pool_poseidon *get(const cJSON *entry)
{
    pool_poseidon *set = NULL;

    if (pool_poseidon_by_name(json_text(entry, "set"), &set))
        fail_msg("%s", pool_last_error()->message);
    return set;
}

static void fail_entry(const char *file, const cJSON *entry, const char *what)
{
    char *text = cJSON_PrintUnformatted(entry);
    fail_msg("%s: %s: %s", file, what, text);
}

static void permute_definition(const pool_poseidon *set, const void *in, void *out)
{
    uint64_t given[POSEIDON_STATE_LIMBS];
    uint64_t state[POSEIDON_STATE_LIMBS];
    size_t limbs = set->field->limbs;

    assert_int_equal(
        poseidon_load(set->field, given, in, set->width, POOL_FORM_STANDARD, "state"), POOL_OK);
    for (uint32_t i = 0; i < set->width; i++)
        memcpy(state + i * limbs, given + poseidon_state_index(set, i) * limbs, 8 * limbs);
    poseidon_permute_reference(set, state);
    for (uint32_t i = 0; i < set->width; i++)
        memcpy(given + i * limbs, state + poseidon_state_index(set, i) * limbs, 8 * limbs);
    poseidon_store(set->field, out, given, set->width, POOL_FORM_STANDARD);
}

/* One entry: elements given and wanted, and a call's spans over them. */
struct vector {
    pool_poseidon *set;
    unsigned char in[POSEIDON_STATE_LIMBS * 8];
    unsigned char want[POSEIDON_STATE_LIMBS * 8];
    unsigned char out[POSEIDON_STATE_LIMBS * 8];
    size_t given;
    size_t wanted;
    pool_span from;
    pool_span to;
};

static const pool_exec on_host = {.struct_size = sizeof(on_host), .on_host = 1};

static void read_vector(const cJSON *entry, const char *result, struct vector *vector)
{
    vector->set = get(entry);
    vector->given = read_elements(vector->set->field, entry, "in", vector->in);
    vector->wanted = read_elements(vector->set->field, entry, result, vector->want);
    vector->from = (pool_span){.data = vector->in, .count = 1};
    vector->to = (pool_span){.data = vector->out, .count = 1};
}

static void check_vector(
    const char *file, const cJSON *entry, const struct vector *vector, const char *what)
{
    size_t bytes = vector->wanted * pool_field_element_bytes(vector->set->field);

    if (memcmp(vector->out, vector->want, bytes))
        fail_entry(file, entry, what);
}

static void check_permutation(const char *file, const cJSON *entry)
{
    struct vector vector;

    read_vector(entry, "out", &vector);
    assert_int_equal(vector.given, vector.set->width);
    assert_int_equal(vector.wanted, vector.set->width);
    permute_definition(vector.set, vector.in, vector.out);
    check_vector(file, entry, &vector, "permutation as defined");
    memset(vector.out, 0, sizeof(vector.out));
    assert_int_equal(
        pool_poseidon_permute(vector.set, &on_host, &vector.from, &vector.to), POOL_OK);
    check_vector(file, entry, &vector, "permutation in short form");
    pool_poseidon_destroy(&vector.set);
}

static void check_hash(const char *file, const cJSON *entry)
{
    struct vector vector;

    read_vector(entry, "digest", &vector);
    assert_int_equal(vector.wanted, vector.set->digest_elements);
    assert_int_equal(
        pool_poseidon_hash(vector.set, &on_host, &vector.from, (uint32_t)vector.given, &vector.to),
        POOL_OK);
    check_vector(file, entry, &vector, "hash");
    pool_poseidon_destroy(&vector.set);
}

static void check_sponge(const char *file, const cJSON *entry)
{
    pool_poseidon_sponge_params params = {.struct_size = sizeof(params)};
    const char *padding = json_text(entry, "padding");
    const cJSON *tag = cJSON_GetObjectItemCaseSensitive(entry, "tag");
    unsigned char domain_tag[POOL_FIELD_MAX_BYTES];
    struct vector vector;

    read_vector(entry, "out", &vector);
    params.elements = (uint32_t)vector.given;
    params.output_elements = (uint32_t)vector.wanted;
    if (!strcmp(json_text(entry, "mode"), "overwrite"))
        params.mode = POOL_SPONGE_OVERWRITE;
    params.padding = !strcmp(padding, "one-zeros") ? POOL_SPONGE_PAD_10
                     : !strcmp(padding, "zeros")   ? POOL_SPONGE_PAD_ZERO
                                                   : POOL_SPONGE_PAD_NONE;
    if (tag) {
        assert_int_equal(pool_field_parse(vector.set->field, cJSON_GetStringValue(tag),
                             POOL_FORM_STANDARD, domain_tag),
            POOL_OK);
        params.domain_tag = domain_tag;
    }
    assert_int_equal(
        pool_poseidon_sponge(vector.set, &on_host, &params, &vector.from, &vector.to), POOL_OK);
    check_vector(file, entry, &vector, "sponge");
    pool_poseidon_destroy(&vector.set);
}

/* How many entries the list has. */
static size_t check_each(const char *file, const cJSON *json, const char *list,
    void (*check)(const char *file, const cJSON *entry))
{
    const cJSON *entry;
    size_t count = 0;

    cJSON_ArrayForEach(entry, cJSON_GetObjectItemCaseSensitive(json, list))
    {
        check(file, entry);
        count++;
    }
    return count;
}

static void test_known_answers(void **state)
{
    size_t permutations = 0;
    size_t hashes = 0;
    size_t sponges = 0;

    (void)state;
    for (size_t i = 0; i < FILE_COUNT; i++) {
        cJSON *json = open_file(files[i]);
        permutations += check_each(files[i], json, "permutations", check_permutation);
        hashes += check_each(files[i], json, "hashes", check_hash);
        sponges += check_each(files[i], json, "sponges", check_sponge);
        cJSON_Delete(json);
    }
    print_message("%zu permutations, %zu hashes, %zu sponges\n", permutations, hashes, sponges);
    assert_true(permutations >= 123 && hashes >= 129 && sponges >= 36);
}

/* Every set has an answer made by others. */
static void test_every_set(void **state)
{
    (void)state;
    for (size_t i = 0; i < pool_poseidon_count(); i++) {
        bool is_known = false;
        for (size_t j = 0; j < FILE_COUNT && !is_known; j++) {
            cJSON *json = open_file(files[j]);
            const char *const kinds[] = {"permutations", "hashes"};
            for (size_t k = 0; k < 2; k++) {
                const cJSON *entry;
                cJSON_ArrayForEach(entry, cJSON_GetObjectItemCaseSensitive(json, kinds[k]))
                {
                    if (!strcmp(json_text(entry, "set"), pool_poseidon_name_at(i)))
                        is_known = true;
                }
            }
            cJSON_Delete(json);
        }
        if (!is_known && !strstr("poseidon2-horizen-bn254-t2", pool_poseidon_name_at(i)))
            fail_msg("%s has no known answer", pool_poseidon_name_at(i));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_every_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
