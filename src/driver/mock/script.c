/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scripted behaviour and queries of the test: failures, expectations, counts, the log.
 */
#include "driver/mock/mock.h"

#include <stdlib.h>
#include <string.h>

/* ---- failures -------------------------------------------------------------------------------- */

static pool_status add_failure(pool_mock *mock, const struct mock_failure *failure)
{
    struct mock_failure *larger =
        realloc(mock->failures, (mock->failure_count + 1) * sizeof(*larger));

    if (!larger)
        return POOL_ERR_OUT_OF_HOST_MEMORY;
    mock->failures = larger;
    larger[mock->failure_count++] = *failure;
    return POOL_OK;
}

static pool_status schedule_failure(pool_mock *mock, int device, const char *function, uint64_t n,
    pool_cu_code code, pool_mock_repeat repeat)
{
    struct mock_failure failure = {.device = device, .left = n, .code = code, .repeat = repeat};
    pool_status status;

    if (!mock)
        return POOL_ERR_INVALID_ARGUMENT;
    pthread_mutex_lock(&mock->lock);
    if (n == 0 || code == POOL_CU_SUCCESS)
        status = mock_misuse(mock, POOL_ERR_INVALID_ARGUMENT,
            "pool_mock_fail: n begins at 1, and SUCCESS is no failure");
    else if (function && !mock_fn_known(function))
        status = mock_misuse(
            mock, POOL_ERR_NOT_FOUND, "pool_mock_fail: there is no function %s", function);
    else if (device >= mock->device_count)
        status = mock_misuse(
            mock, POOL_ERR_NOT_FOUND, "pool_mock_fail_on: there is no device %d", device);
    else {
        failure.function = function ? strdup(function) : NULL;
        status = function && !failure.function ? POOL_ERR_OUT_OF_HOST_MEMORY
                                               : add_failure(mock, &failure);
        if (status)
            free(failure.function);
    }
    pthread_mutex_unlock(&mock->lock);
    return status;
}

pool_status pool_mock_fail(
    pool_mock *mock, const char *function, uint64_t n, pool_cu_code code, pool_mock_repeat repeat)
{
    return schedule_failure(mock, -1, function, n, code, repeat);
}

pool_status pool_mock_fail_on(pool_mock *mock, int device, const char *function, uint64_t n,
    pool_cu_code code, pool_mock_repeat repeat)
{
    return schedule_failure(mock, device < 0 ? INT32_MAX : device, function, n, code, repeat);
}

void pool_mock_clear_failures(pool_mock *mock)
{
    if (!mock)
        return;
    pthread_mutex_lock(&mock->lock);
    for (size_t i = 0; i < mock->failure_count; i++)
        free(mock->failures[i].function);
    mock->failure_count = 0;
    pthread_mutex_unlock(&mock->lock);
}

uint64_t pool_mock_failures_made(pool_mock *mock)
{
    if (!mock)
        return 0;
    pthread_mutex_lock(&mock->lock);
    uint64_t made = mock->failures_made;
    pthread_mutex_unlock(&mock->lock);
    return made;
}

pool_status pool_mock_poison(pool_mock *mock, pool_cu_code code)
{
    if (!mock)
        return POOL_ERR_INVALID_ARGUMENT;
    pthread_mutex_lock(&mock->lock);
    pool_status status = POOL_OK;
    if (code != POOL_CU_SUCCESS && !mock_is_sticky((pool_cu_result)code))
        status = mock_misuse(
            mock, POOL_ERR_INVALID_ARGUMENT, "pool_mock_poison: code %d is not sticky", (int)code);
    else
        mock->sticky = (pool_cu_result)code;
    pthread_mutex_unlock(&mock->lock);
    return status;
}

pool_cu_result pool_mock_poisoned(pool_mock *mock)
{
    if (!mock)
        return 0;
    pthread_mutex_lock(&mock->lock);
    pool_cu_result code = mock->sticky;
    pthread_mutex_unlock(&mock->lock);
    return code;
}

/* ---- expectations ---------------------------------------------------------------------------- */

static bool script_line_known(const char *call)
{
    size_t length = strcspn(call, "(");
    char name[96];

    if (strcmp(call, "...") == 0)
        return true;
    if (length >= sizeof(name))
        return false;
    memcpy(name, call, length);
    name[length] = '\0';
    return mock_fn_known(name);
}

pool_status pool_mock_expect(pool_mock *mock, const char *call, pool_cu_code answer)
{
    pool_status status = POOL_OK;

    if (!mock || !call)
        return POOL_ERR_INVALID_ARGUMENT;
    pthread_mutex_lock(&mock->lock);
    if (!script_line_known(call)) {
        status = mock_misuse(
            mock, POOL_ERR_NOT_FOUND, "pool_mock_expect: there is no function %s", call);
    } else {
        struct mock_expectation *larger =
            realloc(mock->script, (mock->script_count + 1) * sizeof(*larger));
        char *copy = strdup(call);

        if (larger)
            mock->script = larger;
        if (larger && copy) {
            larger[mock->script_count++] = (struct mock_expectation){copy, answer};
        } else {
            free(copy);
            status = POOL_ERR_OUT_OF_HOST_MEMORY;
        }
    }
    pthread_mutex_unlock(&mock->lock);
    return status;
}

const char *pool_mock_verify(pool_mock *mock)
{
    if (!mock)
        return "there is no mock";
    pthread_mutex_lock(&mock->lock);
    struct mock_string *text = &mock->answers[1];
    size_t next = mock->script_next;
    text->length = 0;
    if (mock->misuse_log.length > 0)
        mock_string_append(text, "%s", mock->misuse_log.text);
    if (next + 1 == mock->script_count && strcmp(mock->script[next].call, "...") == 0)
        next++;
    if (!mock->script_broken && next < mock->script_count)
        mock_string_append(text, "expected %s, which never came\n", mock->script[next].call);
    const char *answer = text->length > 0 ? text->text : "";
    pthread_mutex_unlock(&mock->lock);
    return answer;
}

/* ---- counts and log -------------------------------------------------------------------------- */

uint64_t pool_mock_calls(pool_mock *mock, const char *function)
{
    uint64_t count = 0;

    if (!mock || (function && !mock_fn_known(function)))
        return UINT64_MAX;
    pthread_mutex_lock(&mock->lock);
    if (!function)
        count = mock->calls;
    for (int fn = 0; function && fn < MOCK_FN_COUNT; fn++)
        if (mock_fn_is((enum mock_fn)fn, function))
            count += mock->calls_of[fn];
    pthread_mutex_unlock(&mock->lock);
    return count;
}

void pool_mock_reset_calls(pool_mock *mock)
{
    if (!mock)
        return;
    pthread_mutex_lock(&mock->lock);
    mock->calls = 0;
    memset(mock->calls_of, 0, sizeof(mock->calls_of));
    mock_log_clear(mock);
    pthread_mutex_unlock(&mock->lock);
}

const char *pool_mock_log(pool_mock *mock)
{
    if (!mock)
        return "";
    pthread_mutex_lock(&mock->lock);
    struct mock_string *text = &mock->answers[2];
    uint64_t first = mock->line_count > MOCK_LOG_LINES ? mock->line_count - MOCK_LOG_LINES : 0;
    text->length = 0;
    for (uint64_t i = first; i < mock->line_count; i++) {
        const char *line = mock->lines[i % MOCK_LOG_LINES];
        mock_string_append(text, "%s\n", line ? line : "(lost)");
    }
    const char *answer = text->length > 0 ? text->text : "";
    pthread_mutex_unlock(&mock->lock);
    return answer;
}
