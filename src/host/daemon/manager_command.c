#include "host/daemon/manager_command.h"

#include "base/parse.h"
#include "base/record.h"
#include "host/manager_view/machine_control.h"
#include "host/manager_view/manager_view.h"
#include "host/socket/protocol.h"
#include "perf/commands.h"

#include <errno.h>
#include <string.h>

/* What needs the list of problems, or the rules of the daemon. */
static void answer_view(const struct manager_command *call, struct text *out,
                        void (*print)(const struct manager_view *view, bool json, struct text *out))
{
    const struct manager_access *access = call->access;
    struct problems problems = {0};
    const struct manager_view view = {.sm = call->sm,
                                      .engine = access->engine,
                                      .place = access->place,
                                      .problems = &problems,
                                      .partitions = access->partitions,
                                      .groups = access->groups};
    access->list_problems(access->daemon, call->now, &problems);
    print(&view, call->json, out);
    problems_release(&problems);
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

static void print_counters(const void *snapshot, bool json, struct text *out)
{
    counter_snapshot_print(snapshot, json, out);
}

static void release_counters(void *snapshot)
{
    counter_snapshot_free(snapshot);
}

static int answer_counters(const struct manager_command *call, const struct perf_command *perf,
                           struct text *out)
{
    struct counter_snapshot *snapshot = NULL;
    int status = perf_command_counters(perf, &snapshot, out);
    call->reply->data = snapshot;
    call->reply->print = print_counters;
    call->reply->release = release_counters;
    return status;
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
        return answer_counters(call, &perf, out);
    if (top)
        return perf_command_top(&perf, out);
    if (call->count != 1)
        return refuse_command(
            out, "the manager's commands are single words: status, problems, topology, "
                 "routes, partitions, groups, events, page, reroute, sweep, handover, dump; and "
                 "counters ..., top ..., port ..., vm ...");
    if (strcmp(command, "status") == 0) {
        answer_view(call, out, manager_view_status);
    } else if (strcmp(command, "problems") == 0) {
        answer_view(call, out, manager_view_problems);
    } else if (strcmp(command, "partitions") == 0) {
        answer_view(call, out, manager_view_partitions);
    } else if (strcmp(command, "groups") == 0) {
        answer_view(call, out, manager_view_groups);
    } else if (strcmp(command, "topology") == 0) {
        manager_view_end_ports(call->sm, call->json, out);
    } else if (strcmp(command, "routes") == 0) {
        manager_view_tables(call->sm, call->reply);
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
        return refuse_command(
            out, "no such command: status, problems, topology, routes, partitions, groups, "
                 "events, page, reroute, sweep, handover, dump, counters, top, port, vm");
    }
    return 0;
}
