/* The commands of `weft ctl` for a fabric that programs use: host/fabric_control, and the clients
 * of the server. */
#include "host/fabric_control/fabric_control.h"
#include "host/server/session.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { WORDS = 12 };

/* Opened ports, managers, and the programs behind them. */
static void put_clients(void *context, struct record *record)
{
    const struct clients *clients = context;
    struct fabric_totals totals;
    fabric_totals(clients->fabric, &totals);
    record_text(record, "clients   %zu ports open, %u managers, %" PRIu64 " requests answered\n",
                clients->opened.count, totals.managers, clients->served);
    bool first = true;
    record_begin_list(record, "clients");
    for (const struct session *session = clients->first; session; session = session->after) {
        bool manager = session->state == SESSION_MANAGER;
        char program[CLIENT_PROGRAM_BYTES], place[40];
        struct mad_file_status status = {0};
        struct verbs_client_view verbs = {0};
        if (session->state != SESSION_OPEN && session->state != SESSION_VERBS && !manager)
            continue;
        client_program(session->pid, program);
        if (session->file)
            mad_file_status(session->file, &status);
        if (session->verbs)
            verbs_client_view(session->verbs, &verbs);
        bool mads = session->state == SESSION_OPEN;
        if (first)
            record_text(record, "\n%7s %-15s %-20s %6s %9s %9s %7s\n", "PID", "PROGRAM", "AT",
                        "AGENTS", "SENT", "RECEIVED", "LATE");
        first = false;
        record_begin(record, NULL);
        record_number(record, "pid", "%7llu", session->pid);
        record_string(record, "program", " %-15.15s", program);
        record_string(record, "at", " %-20.20s",
                      fabric_control_label(fabric_topology(clients->fabric), session->port, place));
        record_flag(record, "manager", "   IsSM", manager);
        record_number(record, "agents", mads ? " %6llu" : NULL, status.agents);
        record_number(record, "requests", NULL, status.requests);
        record_number(record, "sent", mads ? " %9llu" : NULL, status.sent);
        record_number(record, "received", mads ? " %9llu" : NULL, status.received);
        record_number(record, "timeouts", mads ? " %7llu" : NULL, status.timeouts);
        record_number(record, "dropped", NULL, status.dropped);
        record_number(record, "queued_bytes", NULL, status.queued_bytes);
        record_flag(record, "verbs", "  verbs", session->verbs != NULL);
        record_number(record, "qps", session->verbs ? " %llu QPs" : NULL, verbs.qps);
        record_number(record, "regions", session->verbs ? ", %llu regions" : NULL, verbs.regions);
        record_number(record, "work_requests", session->verbs ? ", %llu sends" : NULL, verbs.sends);
        record_number(record, "completions", session->verbs ? ", %llu completions" : NULL,
                      verbs.completions);
        record_number(record, "resent_packets", session->verbs ? ", %llu packets resent" : NULL,
                      verbs.resent_packets);
        record_number(record, "retry_timeouts", session->verbs ? ", %llu time-outs" : NULL,
                      verbs.timeouts);
        record_number(record, "read_bytes", NULL, verbs.read_bytes);
        record_number(record, "written_bytes", NULL, verbs.written_bytes);
        record_text(record, "\n");
        record_end(record);
    }
    record_end_list(record);
}

int clients_apply(struct clients *clients, const struct action *action, struct err *err)
{
    if (action_row(action)->owner != OWNER_TRAFFIC)
        return action_apply(clients->fabric, action, err);
    if (action->value != 1)
        return err_set(err, EINVAL, "the traffic of a fabric has number 1");
    return action->kind == ACTION_START_TRAFFIC ? data_traffic_start(clients, err)
                                                : data_traffic_stop(clients, err);
}

static int run_action(struct clients *clients, const char *const *words, unsigned count,
                      struct text *out)
{
    struct action action;
    struct err err = {0};
    int result = action_read_words(&action, words, count, fabric_topology(clients->fabric), &err);
    if (result == 0)
        result = clients_apply(clients, &action, &err);
    if (result < 0)
        text_puts(out, err.message);
    return result < 0 ? -EINVAL : 0;
}

static void stop(void *context)
{
    struct clients *clients = context;
    clients->stop = true;
}

const struct control_command *const fabric_control_tables[] = {client_commands, fabric_commands,
                                                               NULL};

/* Each word ends with a NUL, the last one with two. */
int clients_control_run(struct clients *clients, const char *text, struct control_answer *answer)
{
    const char *words[WORDS + 1] = {0};
    unsigned count = 0;
    struct fabric_access access = {.fabric = clients->fabric,
                                   .wall_ps = clients->now,
                                   .pace = clients->pace,
                                   .context = clients,
                                   .put_status = put_clients,
                                   .stop = stop};
    struct control_call call = {
        .subjects = {[CONTROL_FABRIC] = &access}, .answer = answer, .client = -1};
    for (const char *at = text; *at && count < WORDS; at += strlen(at) + 1)
        words[count++] = at;
    const struct control_command *found = control_find(fabric_control_tables, words, count);
    if (action_is_meant(fabric_control_tables, words, count))
        return run_action(clients, words, count, &answer->text);
    if (found)
        return control_run(found, &call, words, count);
    return control_refuse("weft fabric", fabric_control_tables, &call, words, count);
}
