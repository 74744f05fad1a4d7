#include "perf/commands.h"

#include "base/parse.h"
#include "subnet/names.h"

#include <errno.h>
#include <string.h>

static int refuse(struct text *out, const char *why)
{
    text_puts(out, why);
    return -EINVAL;
}

static int refuse_off(struct text *out)
{
    return refuse(out, "the manager reads no counters: 'counter_interval never' is configured; put "
                       "'counter_interval 30s' into its configuration and send it SIGHUP");
}

/* counters [NODE [PORT]] */
int perf_command_counters(const struct perf_command *command, struct counter_snapshot **snapshot,
                          struct text *out)
{
    const struct subnet *subnet = command->subnet;
    const char *const *words = command->words;
    uint32_t node = SUBNET_NONE;
    uint64_t number = 0;
    if (!perf_is_on(command->perf))
        return refuse_off(out);
    if (command->count > 3 ||
        (command->count == 3 && !parse_bounded(words[2], 1, UINT8_MAX, &number)))
        return refuse(out, "expected: counters [NODE [PORT]]");
    if (command->count > 1)
        node = subnet_find_node(subnet, words[1]);
    if (command->count > 1 && node == SUBNET_NONE)
        return refuse(out, "no single node has this name or GUID");
    uint32_t port = SUBNET_NONE;
    if (number && number <= subnet->nodes.items[node].port_count)
        port = subnet->nodes.items[node].first_port + (uint32_t)number;
    if (number && !perf_port_counters(command->perf, port))
        return refuse(out, "this port was not read: its link is not active");
    *snapshot = counter_snapshot_take(command->perf, subnet, command->now, node, (unsigned)number);
    return 0;
}

/* top [load|wait|errors|discards] [hour] [ROWS] */
int perf_command_top(const struct perf_command *command, struct text *out)
{
    struct top_options options = {.key = RANK_LOAD, .rows = TOP_ROWS};
    uint64_t rows = 0;
    if (!perf_is_on(command->perf))
        return refuse_off(out);
    for (unsigned i = 1; i < command->count; i++) {
        const char *word = command->words[i];
        if (strcmp(word, "hour") == 0)
            options.hour = true;
        else if (parse_bounded(word, 1, TOP_ROWS_MOST, &rows))
            options.rows = (unsigned)rows;
        else if (!rank_key_parse(word, &options.key))
            return refuse(out, "expected: top [load|wait|errors|discards] [hour] [ROWS], with at "
                               "most 1000 rows");
    }
    top_print(command->perf, command->subnet, command->now, &options, command->json, out);
    return 0;
}
