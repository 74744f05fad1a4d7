#include "host/daemon/manager_command.h"

#include "base/parse.h"
#include "base/record.h"
#include "host/daemon/machine_control.h"
#include "host/socket/protocol.h"
#include "perf/commands.h"
#include "subnet/names.h"

#include <errno.h>
#include <string.h>
#include <time.h>

static const char *const state_names[] = {"not active", "discovering", "standby", "master"};

const char *manager_clock_text(time_t when, const char *format, char text[32])
{
    struct tm local;
    strftime(text, 32, format, localtime_r(&when, &local));
    return text;
}

/* "12:50:49", or with the date if it is older than a day */
static const char *since_text(const struct manager_command *call, time_t since, char text[32])
{
    enum { DAY_S = 24 * 60 * 60 };
    return manager_clock_text(since,
                              call->json                   ? "%Y-%m-%dT%H:%M:%S%z"
                              : time(NULL) - since < DAY_S ? "%H:%M:%S"
                                                           : "%Y-%m-%d %H:%M:%S",
                              text);
}

static void put_problems(struct record *record, const struct manager_command *call,
                         const struct problems *problems, const char *key)
{
    char when[32];
    record_begin_list(record, key);
    for (size_t i = 0; i < problems->items.count; i++) {
        const struct problem *problem = &problems->items.items[i];
        record_begin(record, NULL);
        record_string(record, "problem", "%s", problem_kind_name(problem->kind));
        record_string(record, "place", *problem->place ? ": %s" : "", problem->place);
        record_string(record, "text", ": %s", problem->text);
        record_string(record, "since", " (since %s)\n", since_text(call, problem->since, when));
        record_end(record);
    }
    record_end_list(record);
}

static void answer_status(struct manager_command *call, struct text *out)
{
    const struct subnet *subnet = sm_subnet(call->sm);
    struct sm_counts counts;
    struct problems problems = {0};
    unsigned switches = 0, adapters = 0, links = 0;
    sm_counts(call->sm, &counts);
    for (size_t i = 0; i < subnet->nodes.count; i++)
        if (subnet->nodes.items[i].present)
            (*(subnet->nodes.items[i].kind == SUBNET_SWITCH ? &switches : &adapters))++;
    for (size_t i = 0; i < subnet->ports.count; i++)
        links += subnet->ports.items[i].peer != SUBNET_NONE;
    struct record record = record_to(out, call->json, false);
    record_begin(&record, NULL);
    record_string(&record, "state", "state     %s", state_names[sm_state(call->sm)]);
    record_flag(&record, "settled", ", idle", sm_is_settled(call->sm));
    if (sm_state(call->sm) == SM_MASTER && !sm_is_settled(call->sm))
        record_text(&record, ", a change is under way");
    record_flag(&record, "copy", ", its copy is up to date", sm_has_copy(call->sm));
    record_string(&record, "port", "\nport      %s", call->access->place);
    record_flag(&record, "link_down", ", its link is down", sm_own_link_is_down(call->sm));
    record_string(&record, "engine", "\nengine    %s", call->access->engine);
    record_number(&record, "switches", "\nsubnet    %llu switches", switches);
    record_number(&record, "adapters", ", %llu adapters", adapters);
    record_number(&record, "links", ", %llu links\n", links / 2);
    record_number(&record, "smps_sent", "SMPs      %llu sent", counts.sent);
    record_number(&record, "smps_answered", ", %llu answered", counts.answered);
    record_number(&record, "time_outs", ", %llu time-outs", counts.timeouts);
    record_number(&record, "given_up", ", %llu given up\n", counts.gave_up);
    call->access->list_problems(call->access->daemon, call->now, &problems);
    if (call->json)
        put_problems(&record, call, &problems, "problems");
    else if (!problems.items.count)
        text_puts(out, "problems  none\n");
    else
        text_printf(out, "problems  %zu: see 'weft ctl problems'\n", problems.items.count);
    record_end(&record);
    problems_release(&problems);
}

static void answer_problems(struct manager_command *call, struct text *out)
{
    struct record record = record_to(out, call->json, false);
    struct problems problems = {0};
    call->access->list_problems(call->access->daemon, call->now, &problems);
    put_problems(&record, call, &problems, NULL);
    if (!problems.items.count)
        record_text(&record, "problems: none\n");
    problems_release(&problems);
}

static void put_end_port(struct record *record, const struct subnet *subnet,
                         const struct subnet_node *node, const struct subnet_port *port)
{
    if (!port->known)
        return;
    record_begin(record, NULL);
    record_string(record, "kind", "%-7s", node->kind == SUBNET_SWITCH ? "switch" : "adapter");
    record_guid(record, "guid", " 0x%016llx", port->guid);
    record_number(record, "port", " port %-3llu", port->number);
    record_number(record, "lid", " LID %5llu", port->lid);
    record_number(record, "hops", "  %2llu hops", port->hops);
    record_string(record, "description", "  %s\n", subnet_node_label(subnet, node));
    record_end(record);
}

static void answer_topology(struct manager_command *call, struct text *out)
{
    const struct subnet *subnet = sm_subnet(call->sm);
    struct record record = record_to(out, call->json, false);
    record_begin_list(&record, NULL);
    for (size_t i = 0; i < subnet->nodes.count; i++) {
        const struct subnet_node *node = &subnet->nodes.items[i];
        bool is_switch = node->kind == SUBNET_SWITCH;
        for (unsigned n = is_switch ? 0 : 1;
             node->present && n <= (is_switch ? 0 : node->port_count); n++)
            put_end_port(&record, subnet, node, &subnet->ports.items[node->first_port + n]);
    }
    record_end_list(&record);
}

static int refuse_command(struct text *out, const char *why)
{
    text_puts(out, why);
    return -EINVAL;
}

/* The client asks again ("handover status") until the handover is done. */
static int answer_handover(const struct manager_command *call, struct text *out)
{
    char text[512];
    enum sm_handover state = sm_handover_state(call->sm, text, sizeof text);
    struct record record = record_to(out, call->json, false);
    record_begin(&record, NULL);
    record_string(&record, "handover", NULL,
                  state == SM_HANDOVER_DONE      ? "done"
                  : state == SM_HANDOVER_PENDING ? "pending"
                                                 : "none");
    record_string(&record, "text", "%s\n", text);
    record_end(&record);
    return state == SM_HANDOVER_PENDING ? CTL_PENDING : 0;
}

/* port disable|enable NODE PORT */
static int answer_port(const struct manager_command *call, struct text *out)
{
    struct err err = {0};
    uint64_t number = 0;
    bool enable = call->count == 4 && strcmp(call->words[1], "enable") == 0;
    if (call->count != 4 || (!enable && strcmp(call->words[1], "disable") != 0) ||
        !parse_bounded(call->words[3], 1, 254, &number))
        return refuse_command(out, "expected: port disable|enable NODE PORT");
    if (sm_state(call->sm) != SM_MASTER)
        return refuse_command(out, "only the master can do that; this manager is not master");
    int status = sm_set_port(call->sm, call->now, call->words[2], (unsigned)number, enable, &err);
    return status < 0 ? refuse_command(out, err.message) : 0;
}

static int answer_page(const struct manager_command *call, struct text *out)
{
    struct record record = record_to(out, call->json, false);
    struct err err = {0};
    char url[512];
    if (call->access->page_url(call->access->daemon, url, sizeof url, &err) < 0)
        return refuse_command(out, err.message);
    record_begin(&record, NULL);
    record_string(&record, "url", "%s\n", url);
    record_end(&record);
    return 0;
}

static struct perf_command perf_command_of(const struct manager_command *call)
{
    return (struct perf_command){.perf = call->access->perf,
                                 .subnet = sm_subnet(call->sm),
                                 .now = call->now,
                                 .json = call->json,
                                 .words = call->words,
                                 .count = call->count};
}

int manager_command_run(struct manager_command *call, struct text *out)
{
    const char *command = call->count ? call->words[0] : "";
    if (call->count == 1 && strcmp(command, "page") == 0)
        return answer_page(call, out);
    if (!call->sm)
        return refuse_command(out, "the manager has no port yet: it waits for the first link");
    if (strcmp(command, "vm") == 0)
        return machine_control_answer(call->access->machines, call->sm, call->now, call->words + 1,
                                      call->count - 1, call->json, out);
    if (strcmp(command, "port") == 0)
        return answer_port(call, out);
    if (call->count == 2 && strcmp(command, "handover") == 0 &&
        strcmp(call->words[1], "status") == 0)
        return answer_handover(call, out);
    bool master = sm_state(call->sm) == SM_MASTER;
    bool counters = strcmp(command, "counters") == 0, top = strcmp(command, "top") == 0;
    struct perf_command perf = perf_command_of(call);
    if ((counters || top) && !master)
        return refuse_command(out, "only the master reads counters; this manager is not master");
    if (counters)
        return perf_command_counters(&perf, &call->counters, out);
    if (top)
        return perf_command_top(&perf, out);
    if (call->count != 1)
        return refuse_command(
            out, "the manager's commands are single words: status, problems, topology, "
                 "routes, events, page, reroute, sweep, handover, dump; and counters ..., top "
                 "..., port ..., vm ...");
    if (strcmp(command, "status") == 0) {
        answer_status(call, out);
    } else if (strcmp(command, "problems") == 0) {
        answer_problems(call, out);
    } else if (strcmp(command, "topology") == 0) {
        answer_topology(call, out);
    } else if (strcmp(command, "routes") == 0) {
        call->snapshot = dump_snapshot_take(sm_subnet(call->sm));
    } else if (strcmp(command, "dump") == 0) {
        if (!call->access->can_dump)
            return refuse_command(
                out, "this manager has no directory for dumps: start it with --dump DIR, "
                     "or put 'dump DIR' into its configuration and send it SIGHUP");
        call->dump = true;
    } else if (!master) {
        return refuse_command(out, "only the master can do that; this manager is not master");
    } else if (strcmp(command, "reroute") == 0) {
        sm_reroute(call->sm, call->now);
    } else if (strcmp(command, "sweep") == 0) {
        sm_rediscover(call->sm, call->now);
    } else if (strcmp(command, "handover") == 0) {
        if (!sm_hand_over(call->sm, call->now))
            return refuse_command(out, "there is no standby to hand over to");
        return answer_handover(call, out);
    } else {
        return refuse_command(out,
                              "no such command: status, problems, topology, routes, events, page, "
                              "reroute, sweep, handover, dump, counters, top, port, vm");
    }
    return 0;
}
