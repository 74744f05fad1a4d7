/* The commands `counters` and `top` of a manager that reads counters. */
#include "perf/report.h"

#include "base/parse.h"
#include "subnet/names.h"

#include <errno.h>
#include <string.h>

static int refuse_off(struct control_call *call)
{
    return err_set(&call->err, EINVAL,
                   "the manager reads no counters: 'counter_interval never' is configured; put "
                   "'counter_interval 30s' into its configuration and send it SIGHUP");
}

static void print_counters(const void *snapshot, bool json, struct text *out)
{
    counter_snapshot_print(snapshot, json, out);
}

static void release_counters(void *snapshot)
{
    counter_snapshot_free(snapshot);
}

static int answer_counters(struct control_call *call)
{
    const struct perf_access *access = call->subject;
    const struct subnet *subnet = access->subnet;
    uint32_t node = SUBNET_NONE;
    uint64_t number = 0;
    if (!perf_is_on(access->perf))
        return refuse_off(call);
    if (call->count == 2 && !parse_bounded(call->words[1], 1, UINT8_MAX, &number))
        return err_set(&call->err, EINVAL, "'%s' is not a port number", call->words[1]);
    if (call->count)
        node = subnet_find_node(subnet, call->words[0]);
    if (call->count && node == SUBNET_NONE)
        return err_set(&call->err, EINVAL, "'%.80s' is not a node of this subnet", call->words[0]);
    uint32_t port = SUBNET_NONE;
    if (number && number <= subnet->nodes.items[node].port_count)
        port = subnet->nodes.items[node].first_port + (uint32_t)number;
    if (number && !perf_port_counters(access->perf, port))
        return err_set(&call->err, EINVAL, "this port was not read: its link is not active");
    call->answer->data =
        counter_snapshot_take(access->perf, subnet, call->now, node, (unsigned)number);
    call->answer->print = print_counters;
    call->answer->release = release_counters;
    return 0;
}

static int answer_top(struct control_call *call)
{
    const struct perf_access *access = call->subject;
    struct top_options options = {.key = RANK_LOAD, .rows = TOP_ROWS};
    uint64_t rows = 0;
    if (!perf_is_on(access->perf))
        return refuse_off(call);
    for (unsigned i = 0; i < call->count; i++) {
        const char *word = call->words[i];
        if (strcmp(word, "hour") == 0)
            options.hour = true;
        else if (parse_bounded(word, 1, TOP_ROWS_MOST, &rows))
            options.rows = (unsigned)rows;
        else if (!rank_key_parse(word, &options.key))
            return err_set(&call->err, EINVAL,
                           "expected: top [load|wait|errors|discards] [hour] [ROWS], with at "
                           "most 1000 rows");
    }
    top_print(access->perf, access->subnet, call->now, &options, call->answer->json,
              &call->answer->text);
    return 0;
}

const struct control_command perf_commands[] = {
    {"counters", "[NODE [PORT]]", 0, 2, CONTROL_COUNTERS,
     "counters of all ports with an active link, of a node, or of a port", answer_counters},
    {"top", "[load|wait|errors|discards] [hour] [ROWS]", 0, UINT8_MAX, CONTROL_COUNTERS,
     "busiest and worst ports, load by stage; live at a terminal, every --interval (2s); keys: q "
     "ends, l w e d sort, h: the last hour",
     answer_top},
    {0}};
