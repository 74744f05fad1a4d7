/* Commands of the process of `weft sm` (its page, its dumps, mastership), and the list of all
 * commands that it answers. */
#include "host/daemon/control/manager_command.h"

#include "base/parse.h"
#include "host/daemon/control/manager_control.h"
#include "host/manager_view/machine_control.h"
#include "host/socket/protocol.h"
#include "perf/report.h"

#include <errno.h>

static int answer_page(struct control_call *call)
{
    const struct manager_access *access = call->subject;
    struct record record = control_record(call);
    char url[512];
    int status = access->page_url(access->daemon, url, sizeof url, &call->err);
    if (status < 0)
        return status;
    record_begin(&record, NULL);
    record_string(&record, "url", "%s\n", url);
    record_end(&record);
    return 0;
}

static int write_dump(struct control_call *call)
{
    struct manager_access *access = call->subject;
    if (!access->can_dump)
        return err_set(&call->err, EINVAL,
                       "this manager has no directory for dumps: start it with --dump DIR, "
                       "or put 'dump DIR' into its configuration and send it SIGHUP");
    access->dump = true;
    return 0;
}

/* Shows the levels, or changes them until the configuration is read again. */
static int answer_log(struct control_call *call)
{
    const struct manager_access *access = call->subject;
    struct log_levels *levels = &access->log->options.levels, changed = *levels;
    struct record record = control_record(call);
    struct text text = {0};
    for (unsigned i = 0; i < call->count; i++)
        if (log_levels_change(&changed, call->words[i], &call->err) < 0)
            return -EINVAL;
    *levels = changed;
    if (access->sm)
        sm_set_debug(access->sm, log_levels_debug_mask(levels));
    log_levels_print(levels, &text);
    if (call->count)
        event_log_write(access->log, "config", "log_level %s (weft ctl log)", text.data);
    record_begin(&record, NULL);
    record_string(&record, "log_level", "%s\n", text.data);
    record_end(&record);
    text_release(&text);
    return 0;
}

static int reroute(struct control_call *call)
{
    const struct manager_access *access = call->subject;
    sm_reroute(access->sm, call->now);
    return 0;
}

static int sweep(struct control_call *call)
{
    const struct manager_access *access = call->subject;
    sm_rediscover(access->sm, call->now);
    return 0;
}

/* The client asks again ("handover status") until the handover is done. */
static int answer_handover(struct control_call *call)
{
    const struct manager_access *access = call->subject;
    struct record record = control_record(call);
    char text[512];
    enum sm_handover state = sm_handover_state(access->sm, text, sizeof text);
    record_begin(&record, NULL);
    record_string(&record, "handover", NULL,
                  state == SM_HANDOVER_DONE      ? "done"
                  : state == SM_HANDOVER_PENDING ? "pending"
                                                 : "none");
    record_string(&record, "text", "%s\n", text);
    record_end(&record);
    return state == SM_HANDOVER_PENDING ? CTL_PENDING : 0;
}

static int hand_over(struct control_call *call)
{
    const struct manager_access *access = call->subject;
    if (!sm_hand_over(access->sm, call->now))
        return err_set(&call->err, EINVAL, "there is no standby to hand over to");
    return answer_handover(call);
}

static int set_port(struct control_call *call, bool enable)
{
    const struct manager_access *access = call->subject;
    uint64_t number = 0;
    if (!parse_bounded(call->words[1], 1, 254, &number))
        return err_set(&call->err, EINVAL, "'%s' is not a port number", call->words[1]);
    return sm_set_port(access->sm, call->now, call->words[0], (unsigned)number, enable,
                       &call->err) < 0
               ? -EINVAL
               : 0;
}

static int disable_port(struct control_call *call)
{
    return set_port(call, false);
}

static int enable_port(struct control_call *call)
{
    return set_port(call, true);
}

static int clear_problems(struct control_call *call)
{
    const struct manager_access *access = call->subject;
    uint64_t number = 0;
    if (call->words[1] && !parse_bounded(call->words[1], 1, 254, &number))
        return err_set(&call->err, EINVAL, "'%s' is not a port number", call->words[1]);
    return sm_clear_problems(access->sm, call->now, call->words[0], (unsigned)number, &call->err);
}

static const struct control_command daemon_commands[] = {
    {"page", "", 0, 0, CONTROL_PROCESS, "URL of the live page, with the token that changes need",
     answer_page},
    {"log", "[[PART:]error|info|debug ...]", 0, LOG_PART_COUNT, CONTROL_PROCESS,
     "log levels; with words, changes them until the configuration is read again; PART is "
     "discovery, transactions, mastership, routing, distribution, sa, perf, vswitch or control",
     answer_log},
    {"reroute", "", 0, 0, CONTROL_MASTER, "compute all routes again", reroute},
    {"sweep", "", 0, 0, CONTROL_MASTER, "discover the whole subnet again", sweep},
    {"port disable", "NODE PORT", 2, 2, CONTROL_MASTER, "disable a link at its switch",
     disable_port},
    {"port enable", "NODE PORT", 2, 2, CONTROL_MASTER, "enable it again", enable_port},
    {"problems clear", "NODE [PORT]", 1, 2, CONTROL_MASTER,
     "forget a node that is gone, lost links, or losses and errors of links", clear_problems},
    {"handover", "", 0, 0, CONTROL_MASTER,
     "hand mastership over to a standby, and wait until it is done (at most --timeout, 60s)",
     hand_over},
    {"handover status", "", 0, 0, CONTROL_DAEMON, NULL, answer_handover},
    {"dump", "", 0, 0, CONTROL_DAEMON, "write the files of 'weft sm --dump' now", write_dump},
    {0}};

const struct control_command *const manager_control_tables[] = {
    manager_view_commands, manager_event_commands,  perf_commands, daemon_commands,
    machine_commands,      machine_report_commands, NULL};

int manager_command_run(struct manager_access *access, uint64_t now, const char *const *words,
                        unsigned count, struct control_answer *answer, int *client)
{
    static const char no_port[] = "the manager has no port yet: it waits for the first link";
    struct sm *sm = access->sm;
    bool master = sm && sm_state(sm) == SM_MASTER;
    struct perf_access perf = {access->perf, sm ? sm_subnet(sm) : NULL};
    struct machine_access machines = {access->machines, sm};
    struct control_call call = {
        .subjects = {[CONTROL_PROCESS] = access,
                     [CONTROL_DAEMON] = sm ? access : NULL,
                     [CONTROL_MANAGER] = sm ? &access->view : NULL,
                     [CONTROL_MACHINES] = sm ? &machines : NULL,
                     [CONTROL_MASTER] = master ? access : NULL,
                     [CONTROL_COUNTERS] = master ? &perf : NULL},
        .missing = {[CONTROL_DAEMON] = no_port,
                    [CONTROL_MANAGER] = no_port,
                    [CONTROL_MACHINES] = no_port,
                    [CONTROL_MASTER] =
                        sm ? "only the master can do that; this manager is not master" : no_port,
                    [CONTROL_COUNTERS] =
                        sm ? "only the master reads counters; this manager is not master"
                           : no_port},
        .now = now,
        .answer = answer,
        .client = *client};
    const char *line[ACTION_WORDS + 1] = {0};
    count = action_replace_alias(words, count, line);
    words = line;
    const struct control_command *found = control_find(manager_control_tables, words, count);
    int result = found ? control_run(found, &call, words, count)
                       : control_refuse("weft sm", manager_control_tables, &call, words, count);
    event_log_debug(access->log, PART_CONTROL, "%s%s%s: result %d%s%.200s", count ? words[0] : "",
                    count > 1 ? " " : "", count > 1 ? words[1] : "", result, result < 0 ? ", " : "",
                    result < 0 && answer->text.length ? answer->text.data : "");
    *client = call.client;
    return result;
}
