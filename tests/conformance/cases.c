/* SPDX-License-Identifier: Apache-2.0 */
/* The list of lane cases: their names are made from their PTX, and each name is unique. */
#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASE_LIMIT = 2048 };

static struct lane_case list[CASE_LIMIT];
static size_t used;

static char *copy_text(const char *text, size_t length)
{
    char *copy = strndup(text, length);

    if (!copy)
        abort();
    return copy;
}

void lane_add(const struct lane_case *lane)
{
    const char *given = lane->name ? lane->name : lane->body;
    char *name;

    if (used == CASE_LIMIT)
        abort();
    name = copy_text(given, lane->name ? strlen(given) : strcspn(given, " "));
    for (char *space = name; (space = strchr(space, ' '));)
        *space = '_';
    list[used] = *lane;
    list[used].body = copy_text(lane->body, strlen(lane->body));
    list[used].name = name;
    for (size_t i = 0; i < used; i++)
        if (strcmp(list[i].name, name) == 0) {
            fprintf(stderr, "two cases are called %s\n", name);
            abort();
        }
    used++;
}

void lane_add_all(const struct lane_case *lanes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        lane_add(&lanes[i]);
}

const struct lane_case *lane_at(size_t index)
{
    return &list[index];
}

size_t lane_count(void)
{
    return used;
}

void lane_clear(void)
{
    while (used) {
        used--;
        free((void *)(uintptr_t)list[used].body);
        free((void *)(uintptr_t)list[used].name);
    }
}
