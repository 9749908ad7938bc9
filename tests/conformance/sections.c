/* SPDX-License-Identifier: Apache-2.0 */
/* The transcript's sections in order. */
#include "transcript.h"

extern const struct section context_sections[], memory_sections[], module_sections[],
    stream_sections[], green_sections[], fault_sections[];

const struct section *const section_lists[] = {context_sections, memory_sections, module_sections,
    stream_sections, green_sections, fault_sections};
const size_t section_list_count = sizeof(section_lists) / sizeof(section_lists[0]);
