/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expands a macro for each argument of a row of calls.def.
 */
#ifndef WORKER_EACH_H
#define WORKER_EACH_H

#define WORKER_EACH_1(m, a) m a
#define WORKER_EACH_2(m, a, ...) m a WORKER_EACH_1(m, __VA_ARGS__)
#define WORKER_EACH_3(m, a, ...) m a WORKER_EACH_2(m, __VA_ARGS__)
#define WORKER_EACH_4(m, a, ...) m a WORKER_EACH_3(m, __VA_ARGS__)
#define WORKER_EACH_5(m, a, ...) m a WORKER_EACH_4(m, __VA_ARGS__)
#define WORKER_COUNT(a, b, c, d, e, count, ...) WORKER_EACH_##count
#define WORKER_EACH_OF(...) WORKER_COUNT(__VA_ARGS__, 5, 4, 3, 2, 1, 0)

/* m(kind, type, name) for each argument, one after another. */
#define WORKER_EACH(m, ...) WORKER_EACH_OF(__VA_ARGS__)(m, __VA_ARGS__)

/* The same with commas in between. */
#define WORKER_LIST_1(m, a) m a
#define WORKER_LIST_2(m, a, ...) m a, WORKER_LIST_1(m, __VA_ARGS__)
#define WORKER_LIST_3(m, a, ...) m a, WORKER_LIST_2(m, __VA_ARGS__)
#define WORKER_LIST_4(m, a, ...) m a, WORKER_LIST_3(m, __VA_ARGS__)
#define WORKER_LIST_5(m, a, ...) m a, WORKER_LIST_4(m, __VA_ARGS__)
#define WORKER_COUNT_LIST(a, b, c, d, e, count, ...) WORKER_LIST_##count
#define WORKER_LIST_OF(...) WORKER_COUNT_LIST(__VA_ARGS__, 5, 4, 3, 2, 1, 0)
#define WORKER_LIST(m, ...) WORKER_LIST_OF(__VA_ARGS__)(m, __VA_ARGS__)

#endif
