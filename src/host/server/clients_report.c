/* `weft ctl clients`: the RDMA programs on a fabric, and their queue pairs. */
#include "host/fabric_control/fabric_control.h"
#include "host/server/session.h"

#include <inttypes.h>
#include <string.h>

enum { QPS_SHOWN = 16 /* of a program, in text */ };

void client_program(uint32_t pid, char program[CLIENT_PROGRAM_BYTES])
{
    char path[64];
    snprintf(program, CLIENT_PROGRAM_BYTES, "?");
    snprintf(path, sizeof path, "/proc/%u/comm", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    if (fgets(program, CLIENT_PROGRAM_BYTES, file))
        program[strcspn(program, "\n")] = 0;
    fclose(file);
}

static void put_qp(struct record *record, const struct verbs_qp_view *qp, bool shown)
{
    record_begin(record, NULL);
    record_string(record, "service", shown ? "        %s" : NULL, qp->service);
    record_number(record, "qp", shown ? " QP %llu" : NULL, qp->number);
    record_string(record, "state", shown ? " %s" : NULL, qp->state);
    record_number(record, "remote_lid", shown && qp->remote_lid ? " to LID %llu" : NULL,
                  qp->remote_lid);
    record_number(record, "remote_qp", shown && qp->remote_lid ? " QP %llu" : NULL, qp->remote_qp);
    record_number(record, "sends_pending", shown ? ", %llu sends" : NULL, qp->sends);
    record_number(record, "receives_pending", shown ? " and %llu receives pending" : NULL,
                  qp->receives);
    record_number(record, "resent_packets", shown && qp->resent_packets ? ", %llu resent" : NULL,
                  qp->resent_packets);
    record_number(record, "retry_timeouts", shown && qp->timeouts ? ", %llu time-outs" : NULL,
                  qp->timeouts);
    record_number(record, "rnr_naks", shown && qp->rnr_naks ? ", %llu RNR NAKs" : NULL,
                  qp->rnr_naks);
    if (shown)
        record_text(record, "\n");
    record_end(record);
}

static void put_program(struct record *record, const struct clients *clients,
                        const struct session *session)
{
    char program[CLIENT_PROGRAM_BYTES], place[40];
    struct verbs_client_view view;
    struct verbs_qp_view qp;
    client_program(session->pid, program);
    verbs_client_view(session->verbs, &view);
    record_begin(record, NULL);
    record_number(record, "pid", "%7llu", session->pid);
    record_string(record, "program", " %-15.15s", program);
    record_string(record, "at", " %-16.16s",
                  fabric_control_label(fabric_topology(clients->fabric), session->port, place));
    record_number(record, "qps", " %5llu", view.qps);
    record_number(record, "regions", " %7llu", view.regions);
    record_number(record, "listening", " %6llu", view.listening);
    record_number(record, "connections", " %6llu", view.connections);
    record_number(record, "messages_per_second", " %9llu", view.messages_per_second);
    record_real(record, "bytes_per_second", NULL, (double)view.bytes_per_second);
    record_real(record, NULL, " %9.1f", (double)view.bytes_per_second / 1e6);
    record_number(record, "work_requests", NULL, view.sends);
    record_number(record, "completions", NULL, view.completions);
    record_number(record, "read_bytes", NULL, view.read_bytes);
    record_number(record, "written_bytes", NULL, view.written_bytes);
    record_number(record, "resent_packets", " %7llu", view.resent_packets);
    record_number(record, "retry_timeouts", " %9llu\n", view.timeouts);
    record_begin_list(record, "queue_pairs");
    for (uint32_t at = 0, shown = 0; verbs_client_next_qp(session->verbs, &at, &qp); shown++)
        put_qp(record, &qp, shown < QPS_SHOWN);
    record_end_list(record);
    if (view.qps > QPS_SHOWN)
        record_text(record, "        … %u more\n", view.qps - QPS_SHOWN);
    record_end(record);
}

static int answer_clients(struct control_call *call)
{
    const struct fabric_access *access = call->subject;
    const struct clients *clients = access->context;
    struct record record = control_record(call);
    bool first = true;
    record_begin(&record, NULL);
    record_begin_list(&record, "programs");
    for (const struct session *session = clients->first; session; session = session->after) {
        if (!session->verbs)
            continue;
        if (first)
            record_text(&record, "%7s %-15s %-16s %5s %7s %6s %6s %9s %9s %7s %9s\n", "PID",
                        "PROGRAM", "AT", "QPS", "REGIONS", "LISTEN", "CONN", "MSG/S", "MB/S",
                        "RESENT", "TIME-OUTS");
        first = false;
        put_program(&record, clients, session);
    }
    record_end_list(&record);
    if (first)
        record_text(&record, "no RDMA program is attached\n");
    record_end(&record);
    return 0;
}

const struct control_command client_commands[] = {
    {"clients", "", 0, 0, CONTROL_FABRIC,
     "RDMA programs: where they are, queue pairs, rates, repetitions", answer_clients},
    {0}};
