/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What devicepool top shows of a snapshot: the pool, each device, and the leases and requests that
 * fit below them. All lines fit 80 columns; wider values are cut at the edge of the terminal.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "top.h"

enum { LINE = 512 };

/* ---- values of a snapshot ----------------------------------------------------------------------
 */

static const cJSON *samples_of(const cJSON *root, const char *name)
{
    const cJSON *family;

    cJSON_ArrayForEach(family, cJSON_GetObjectItem(root, "metrics"))
    {
        const char *found = cJSON_GetStringValue(cJSON_GetObjectItem(family, "name"));

        if (found && strcmp(found, name) == 0)
            return cJSON_GetObjectItem(family, "samples");
    }
    return NULL;
}

static const char *label_of(const cJSON *sample, const char *label)
{
    const char *value =
        cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetObjectItem(sample, "labels"), label));

    return value ? value : "";
}

/* The sum of the samples of a device, or of all with NULL. */
static double value_of(const cJSON *root, const char *name, const char *device)
{
    const cJSON *sample;
    double sum = 0;

    cJSON_ArrayForEach(sample,
        samples_of(root, name)) if (!device || strcmp(label_of(sample, "device"), device) == 0)
        sum += cJSON_GetNumberValue(cJSON_GetObjectItem(sample, "value"));
    return sum;
}

static double time_of(const cJSON *root)
{
    return cJSON_GetNumberValue(cJSON_GetObjectItem(root, "monotonic_seconds"));
}

/* Per second, since the snapshot before; 0 without one. */
static double rate_of(const cJSON *now, const cJSON *before, const char *name, const char *device)
{
    double seconds = before ? time_of(now) - time_of(before) : 0;
    double rise = seconds > 0 ? value_of(now, name, device) - value_of(before, name, device) : 0;

    return rise > 0 ? rise / seconds : 0;
}

static const char *state_of(const cJSON *root, const char *device)
{
    const cJSON *sample;

    cJSON_ArrayForEach(sample,
        samples_of(root,
            "devicepool_device_state")) if (strcmp(label_of(sample, "device"), device) == 0 &&
                                            cJSON_GetNumberValue(cJSON_GetObjectItem(sample,
                                                "value")) == 1) return label_of(sample, "state");
    return "?";
}

/* Why the device is not ready; "": it is. */
static const char *reason_of(const cJSON *root, const char *device)
{
    const cJSON *entry;

    cJSON_ArrayForEach(entry, cJSON_GetObjectItem(root, "reasons"))
    {
        const char *reason = cJSON_GetStringValue(cJSON_GetObjectItem(entry, "reason"));

        if (reason &&
            cJSON_GetNumberValue(cJSON_GetObjectItem(entry, "device")) == strtod(device, NULL))
            return reason;
    }
    return "";
}

/* ---- lines ------------------------------------------------------------------------------------
 */

static struct {
    int rows, columns, row;
} screen;

static void begin_picture(void)
{
    struct winsize size = {0};

    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    screen.rows = size.ws_row > 3 ? size.ws_row : 24;
    screen.columns = size.ws_col > 20 ? size.ws_col : 80;
    screen.row = 0;
    fputs("\033[H", stdout);
}

/* One line, truncated to the screen. Control characters, which a service's labels might have, are
 * replaced. */
__attribute__((format(printf, 2, 3))) static void show(
    enum cli_colour colour, const char *format, ...)
{
    char line[LINE];
    va_list list;

    if (screen.row >= screen.rows - 1)
        return;
    va_start(list, format);
    vsnprintf(line, sizeof(line), format, list);
    va_end(list);
    fputs(cli_colour(stdout, colour), stdout);
    cli_print_text(stdout, line, "", screen.columns);
    fputs(cli_colour(stdout, CLI_PLAIN), stdout);
    fputs("\033[K\n", stdout);
    screen.row++;
}

/* ---- devices ----------------------------------------------------------------------------------
 */

/* The device whose samples are those of the memory of a GPU: of a part the first one. */
static const char *gpu_of(const cJSON *info)
{
    return *label_of(info, "gpu") ? label_of(info, "gpu") : label_of(info, "device");
}

static void show_device(const cJSON *now, const cJSON *before, const cJSON *info)
{
    const char *device = label_of(info, "device"), *state = state_of(now, device);
    double total = value_of(now, "devicepool_device_memory_total_bytes", gpu_of(info));
    double used = value_of(now, "devicepool_memory_used_bytes", gpu_of(info));
    double held = value_of(now, "devicepool_memory_held_bytes", gpu_of(info));
    double reserved = value_of(now, "devicepool_memory_lease_reserved_bytes", gpu_of(info));
    char bar[8 * CLI_BAR], a[CLI_NUMBER], b[CLI_NUMBER], c[CLI_NUMBER], d[CLI_NUMBER];

    show(strcmp(state, "ready") == 0 ? CLI_BOLD : CLI_RED, "%s  %s  %s%s%s  %s", device,
        label_of(info, "name"), label_of(info, "pci"),
        *label_of(info, "partition") ? "  part " : "", label_of(info, "partition"), state);
    if (*reason_of(now, device))
        show(CLI_RED, "   %s", reason_of(now, device));
    show(CLI_PLAIN, "   memory %s  %s of %s, %s reserved",
        cli_bar((size_t)(used / 1024), (size_t)(total / 1024), bar, sizeof(bar)),
        cli_bytes((uint64_t)used, a, sizeof(a)), cli_bytes((uint64_t)total, b, sizeof(b)),
        cli_bytes((uint64_t)reserved, c, sizeof(c)));
    show(CLI_PLAIN, "   work   %.0f calls, %.0f streams, %.0f unfinished; %.0f resident; %s held",
        value_of(now, "devicepool_calls", device), value_of(now, "devicepool_busy_streams", device),
        value_of(now, "devicepool_unfinished_work", device),
        value_of(now, "devicepool_resident_objects", gpu_of(info)),
        cli_bytes((uint64_t)held, a, sizeof(a)));
    show(CLI_PLAIN, "   rate   %s calls/s, %s items/s, %s launches/s, %s/s copied",
        cli_amount(rate_of(now, before, "devicepool_operations_total", device), a, sizeof(a)),
        cli_amount(rate_of(now, before, "devicepool_operation_items_total", device), b, sizeof(b)),
        cli_amount(rate_of(now, before, "devicepool_launches_total", device), c, sizeof(c)),
        cli_bytes(
            (uint64_t)rate_of(now, before, "devicepool_copied_bytes_total", device), d, sizeof(d)));
}

/* The same in one line, where there are more devices than fit. */
static void show_device_line(const cJSON *now, const cJSON *before, const cJSON *info)
{
    const char *device = label_of(info, "device"), *state = state_of(now, device);
    double total = value_of(now, "devicepool_device_memory_total_bytes", gpu_of(info));
    double used = value_of(now, "devicepool_memory_used_bytes", gpu_of(info));
    char bar[8 * CLI_BAR], a[CLI_NUMBER], b[CLI_NUMBER], c[CLI_NUMBER];

    show(strcmp(state, "ready") == 0 ? CLI_PLAIN : CLI_RED, "%-2s %-11s %s %9s of %9s %6s items/s",
        device, state, cli_bar((size_t)(used / 1024), (size_t)(total / 1024), bar, sizeof(bar)),
        cli_bytes((uint64_t)used, a, sizeof(a)), cli_bytes((uint64_t)total, b, sizeof(b)),
        cli_amount(rate_of(now, before, "devicepool_operation_items_total", device), c, sizeof(c)));
}

/* ---- leases and requests -----------------------------------------------------------------------
 */

enum { LABEL_COLUMNS = 26 };

static double number_of(const cJSON *object, const char *member)
{
    return cJSON_GetNumberValue(cJSON_GetObjectItem(object, member));
}

/* The label in exactly LABEL_COLUMNS characters of UTF-8. */
static const char *padded_label(const cJSON *view, char padded[4 * LABEL_COLUMNS + 1])
{
    const char *label = cJSON_GetStringValue(cJSON_GetObjectItem(view, "label"));
    size_t length = 0, columns = 0;

    for (; label && *label; label++) {
        columns += ((unsigned char)*label & 0xc0) != 0x80;
        if (columns > LABEL_COLUMNS || length == 4 * LABEL_COLUMNS)
            break;
        padded[length++] = *label;
    }
    for (; columns < LABEL_COLUMNS && length < 4 * LABEL_COLUMNS; columns++)
        padded[length++] = ' ';
    padded[length] = 0;
    return padded;
}

/* "4.2 s", "12m05s", "3h25m" */
static const char *age(double seconds, char *text, size_t size)
{
    if (seconds < 60)
        snprintf(text, size, "%.1f s", seconds);
    else if (seconds < 3600)
        snprintf(text, size, "%dm%02ds", (int)seconds / 60, (int)seconds % 60);
    else
        snprintf(text, size, "%lluh%02dm", (unsigned long long)seconds / 3600,
            (int)((unsigned long long)seconds / 60 % 60));
    return text;
}

static void show_lease(const cJSON *lease)
{
    const cJSON *indices = cJSON_GetObjectItem(lease, "devices"), *index;
    int is_overdue = cJSON_IsTrue(cJSON_GetObjectItem(lease, "is_overdue"));
    double bytes = number_of(lease, "bytes") * cJSON_GetArraySize(indices);
    char label[4 * LABEL_COLUMNS + 1], devices[64] = "", a[CLI_NUMBER], b[CLI_NUMBER],
                                       c[CLI_NUMBER];
    size_t used = 0;

    cJSON_ArrayForEach(index, indices)
    {
        if (used < sizeof(devices))
            used += (size_t)snprintf(devices + used, sizeof(devices) - used, "%s%.0f",
                used ? "," : "", cJSON_GetNumberValue(index));
    }
    if (used > 10)
        snprintf(devices, sizeof(devices), "%d devices", cJSON_GetArraySize(indices));
    show(is_overdue ? CLI_RED : CLI_PLAIN, "  %s %-10s %10s %10s %9s %s",
        padded_label(lease, label), devices, cli_bytes((uint64_t)bytes, a, sizeof(a)),
        cli_bytes((uint64_t)number_of(lease, "used_bytes"), b, sizeof(b)),
        age(number_of(lease, "held_seconds"), c, sizeof(c)), is_overdue ? "overdue" : "");
}

static void show_request(const cJSON *request)
{
    char label[4 * LABEL_COLUMNS + 1], a[CLI_NUMBER], b[CLI_NUMBER];

    show(CLI_PLAIN, "  %s %-10.0f %10s %10.0f %9s %s", padded_label(request, label),
        number_of(request, "device_count"),
        cli_bytes((uint64_t)number_of(request, "bytes"), a, sizeof(a)),
        number_of(request, "priority"), age(number_of(request, "waited_seconds"), b, sizeof(b)),
        cJSON_IsTrue(cJSON_GetObjectItem(request, "is_head")) ? "next" : "");
}

/* A list in the snapshot, and how many more there are. */
struct list {
    const cJSON *entries;
    int more;
};

static struct list list_of(const cJSON *now, const char *name, const char *name_omitted)
{
    struct list list = {.entries = cJSON_GetObjectItem(now, name)};

    if (cJSON_IsNumber(cJSON_GetObjectItem(now, name_omitted)))
        list.more = (int)number_of(now, name_omitted);
    return list;
}

/* The rows that the whole list takes, with its heading. */
static int rows_of(const struct list *list)
{
    int count = cJSON_GetArraySize(list->entries);

    return count ? 1 + count + (list->more > 0) : 0;
}

/* Shows a list in at most `rows` rows; the last one says how many entries are left out. */
static void show_list(
    const struct list *list, int rows, const char *heading, void (*show_entry)(const cJSON *entry))
{
    int count = cJSON_GetArraySize(list->entries), shown = 0;
    const cJSON *entry;

    if (!count || rows < 2)
        return;
    show(CLI_BOLD, "%s", heading);
    cJSON_ArrayForEach(entry, list->entries)
    {
        int left = count - shown + list->more;

        if (shown + 2 >= rows && left > 1) {
            show(CLI_DIM, "  and %d more", left);
            return;
        }
        show_entry(entry);
        shown++;
    }
    if (list->more)
        show(CLI_DIM, "  and %d more", list->more);
}

/* Requests get a third of the rows, or what leases leave. */
static void show_lists(const struct list *leases, const struct list *requests)
{
    int available = screen.rows - 1 - screen.row;
    int for_requests = rows_of(requests), for_leases = rows_of(leases);

    if (for_leases + for_requests > available) {
        int least = for_requests < available / 3 ? for_requests : available / 3;

        for_leases = for_leases < available - least ? for_leases : available - least;
    }
    show_list(leases, for_leases,
        "  LEASE                      DEVICES      RESERVED       USED      HELD", show_lease);
    show_list(requests, available - for_leases,
        "  REQUEST                    DEVICES     BYTES/DEV   PRIORITY    WAITED", show_request);
}

static void show_lease_counts(const cJSON *now, const cJSON *before)
{
    char rate[CLI_NUMBER];

    if (!samples_of(now, "devicepool_leases"))
        return;
    show(CLI_BOLD, "leases %.0f held, %.0f overdue, %.0f requests waiting, %s granted/s",
        value_of(now, "devicepool_leases", NULL), value_of(now, "devicepool_leases_overdue", NULL),
        value_of(now, "devicepool_lease_requests_waiting", NULL),
        cli_amount(
            rate_of(now, before, "devicepool_leases_granted_total", NULL), rate, sizeof(rate)));
}

/* ---- the whole --------------------------------------------------------------------------------
 */

void top_draw(const char *path, const cJSON *now, const cJSON *before)
{
    const cJSON *health = cJSON_GetObjectItem(now, "health"), *info;
    const cJSON *devices = samples_of(now, "devicepool_device_info");
    const char *cause = cJSON_GetStringValue(cJSON_GetObjectItem(health, "first_cause"));
    struct list leases = list_of(now, "leases", "leases_omitted");
    struct list requests = list_of(now, "requests", "requests_omitted");
    int list_rows = rows_of(&leases) + rows_of(&requests), is_narrow;

    begin_picture();
    show(CLI_PLAIN, "devicepool top  %s  process %.0f  devices %.0f of %.0f usable", path,
        number_of(now, "pid"), value_of(now, "devicepool_usable_devices", NULL),
        value_of(now, "devicepool_devices", NULL));
    if (cause && *cause)
        show(CLI_RED, "fault: %s", cause);
    show_lease_counts(now, before);
    is_narrow = screen.row + 4 * cJSON_GetArraySize(devices) + (list_rows < 9 ? list_rows : 9) >
                screen.rows - 1;
    cJSON_ArrayForEach(info, devices)
    {
        if (is_narrow)
            show_device_line(now, before, info);
        else
            show_device(now, before, info);
    }
    show_lists(&leases, &requests);
    fputs("\033[J", stdout);
    printf("%sq: quit%s", cli_colour(stdout, CLI_DIM), cli_colour(stdout, CLI_PLAIN));
    fflush(stdout);
}
