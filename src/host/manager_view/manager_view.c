/* What a manager shows of itself and its subnet: the answers to `status`, `problems` and so on. */
#include "host/manager_view/manager_view.h"

#include "base/record.h"
#include "base/time.h"
#include "host/files/dumps.h"
#include "subnet/names.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <time.h>

/* ---- status and problems ---- */

const char *manager_view_clock(time_t when, const char *format, char text[32])
{
    struct tm local;
    strftime(text, 32, format, localtime_r(&when, &local));
    return text;
}

/* "12:50:49", or with the date if it is older than a day */
static const char *since_text(const struct manager_view *view, bool json, uint64_t now_ns,
                              uint64_t since_ns, char text[32])
{
    static const uint64_t day_ns = 24 * 60 * 60 * NS_PER_S;
    if (view->virtual_time) {
        snprintf(text, 32, "%.6fms", (double)since_ns / NS_PER_MS);
        return text;
    }
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t age_ns = now_ns - since_ns;
    uint64_t when_ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec - age_ns;
    return manager_view_clock((time_t)(when_ns / NS_PER_S),
                              json              ? "%Y-%m-%dT%H:%M:%S%z"
                              : age_ns < day_ns ? "%H:%M:%S"
                                                : "%Y-%m-%d %H:%M:%S",
                              text);
}

static void put_problems(struct record *record, const struct manager_view *view,
                         const struct problems *problems, uint64_t now_ns, const char *key)
{
    struct text place = {0};
    char when[32];
    record_begin_list(record, key);
    for (size_t i = 0; i < problems->items.count; i++) {
        const struct problem *problem = &problems->items.items[i];
        record_begin(record, NULL);
        const struct problem_info *info = &problem_infos[problem->kind];
        if (info->severity == PROBLEM_INFORMATION)
            record_text(record, "note: ");
        record_string(record, "problem", "%s", info->name);
        text_clear(&place);
        text_puts(&place, "");
        problem_put_place(problem, sm_subnet(view->sm), &place);
        record_string(record, "place", place.length ? ": %s" : "", place.data);
        record_string(record, "text", ": %s", problem->text);
        record_string(record, "since", " (since %s)\n",
                      since_text(view, record->as_json, now_ns, problem->since_ns, when));
        record_string(record, "severity", NULL, problem_severity_names[info->severity]);
        record_string(record, "advice", NULL, info->advice);
        record_end(record);
    }
    record_end_list(record);
    text_release(&place);
}

static void put_standby(struct record *record, const struct manager_view *view, uint64_t now,
                        const struct sm_other *other)
{
    const struct subnet *subnet = sm_subnet(view->sm);
    struct manager_view_copy copy;
    uint64_t guid = subnet->ports.items[other->port].guid;
    bool copies = view->find_copy && view->find_copy(view->context, now, guid, &copy);
    record_begin(record, NULL);
    record_string(record, "place", "%s", subnet_link_name(subnet, other->port).text);
    record_guid(record, "guid", NULL, guid);
    record_number(record, "priority", ", priority %llu", other->priority);
    record_string(record, "state", NULL, other->ended ? "ended" : sm_state_names[other->state]);
    record_flag(record, "answers", NULL, !other->ended && !other->silent_since);
    if (other->ended)
        record_text(record, ": has ended");
    else if (other->silent_since)
        record_text(record, ": has not answered for %.1f s",
                    (double)(now - other->silent_since) / NS_PER_S);
    else
        record_text(record, ": %s", sm_state_names[other->state]);
    record_flag(record, "copies_registrations", NULL, copies);
    if (copies) {
        record_number(record, "lag",
                      copy.lag ? ", lacks %llu changes of registrations"
                               : ", has all registrations",
                      copy.lag);
        record_real(record, "asked_seconds_ago", ", asked %.2f s ago",
                    (double)copy.age_ns / NS_PER_S);
    } else if (view->find_copy && !other->ended) {
        record_text(record, ", copies no registrations");
    }
    record_text(record, "\n");
    record_end(record);
}

/* The other managers, one a line; for a standby, its master. */
static void put_others(struct record *record, const struct manager_view *view, uint64_t now)
{
    struct sm_other other;
    struct sm_master master;
    uint32_t cursor = 0;
    bool none = true;
    if (sm_state(view->sm) == SM_STANDBY) {
        struct subnet_name name = {"none is known"};
        if (sm_master(view->sm, &master))
            name = subnet_link_name(sm_subnet(view->sm), master.port);
        record_string(record, "master", "master    %s\n", name.text);
    }
    if (sm_state(view->sm) != SM_MASTER)
        return;
    record_begin_list(record, "standbys");
    while (sm_next_other(view->sm, &cursor, &other)) {
        record_text(record, none ? "standbys  " : "          ");
        put_standby(record, view, now, &other);
        none = false;
    }
    record_end_list(record);
    if (none)
        record_text(record, "standbys  none\n");
}

static int answer_status(struct control_call *call)
{
    const struct manager_view *view = call->subject;
    const struct sm *sm = view->sm;
    struct problems problems = {0};
    const struct subnet *subnet = sm_subnet(sm);
    struct sm_counts counts;
    unsigned switches = 0, adapters = 0, links = 0;
    sm_counts(sm, &counts);
    view->list_problems(view->context, call->now, &problems);
    for (size_t i = 0; i < subnet->nodes.count; i++)
        if (subnet->nodes.items[i].present)
            (*(subnet->nodes.items[i].kind == SUBNET_SWITCH ? &switches : &adapters))++;
    for (size_t i = 0; i < subnet->ports.count; i++)
        links += subnet->ports.items[i].peer != SUBNET_NONE;
    struct record record = control_record(call);
    record_begin(&record, NULL);
    record_string(&record, "state", "state     %s", sm_state_names[sm_state(sm)]);
    record_flag(&record, "settled", ", idle", sm_is_settled(sm));
    if (sm_state(sm) == SM_MASTER && !sm_is_settled(sm))
        record_text(&record, ", a change is under way");
    record_flag(&record, "copy", ", its copy is up to date", sm_has_copy(sm));
    record_string(&record, "port", "\nport      %s", view->place);
    record_flag(&record, "link_down", ", its link is down", sm_own_link_is_down(sm));
    record_text(&record, "\n");
    put_others(&record, view, call->now);
    record_string(&record, "engine", "engine    %s", view->engine);
    record_number(&record, "switches", "\nsubnet    %llu switches", switches);
    record_number(&record, "adapters", ", %llu adapters", adapters);
    record_number(&record, "links", ", %llu links\n", links / 2);
    record_number(&record, "smps_sent", "SMPs      %llu sent", counts.sent);
    record_number(&record, "smps_answered", ", %llu answered", counts.answered);
    record_number(&record, "time_outs", ", %llu time-outs", counts.timeouts);
    record_number(&record, "given_up", ", %llu given up\n", counts.gave_up);
    if (record.as_json)
        put_problems(&record, view, &problems, call->now, "problems");
    else if (!problems.items.count)
        record_text(&record, "problems  none\n");
    else if (!problems_count(&problems))
        record_text(&record, "problems  none, %zu note%s: see 'weft ctl problems'\n",
                    problems.items.count, problems.items.count == 1 ? "" : "s");
    else
        record_text(&record, "problems  %zu: see 'weft ctl problems'\n", problems_count(&problems));
    record_end(&record);
    problems_release(&problems);
    return 0;
}

/* A standby lists what it sees itself; only the master watches the subnet. */
static void put_standby_hint(struct record *record, const struct manager_view *view)
{
    struct sm_master master;
    if (sm_master(view->sm, &master))
        record_text(
            record,
            "this manager is a standby: only the master, at %s, lists the problems of the subnet\n",
            subnet_link_name(sm_subnet(view->sm), master.port).text);
    else
        record_text(
            record,
            "this manager is a standby: only the master lists the problems of the subnet\n");
}

static int answer_problems(struct control_call *call)
{
    const struct manager_view *view = call->subject;
    struct record record = control_record(call);
    struct problems problems = {0};
    view->list_problems(view->context, call->now, &problems);
    if (!problems_count(&problems))
        record_text(&record, "problems: none\n");
    if (sm_state(view->sm) == SM_STANDBY)
        put_standby_hint(&record, view);
    put_problems(&record, view, &problems, call->now, NULL);
    problems_release(&problems);
    return 0;
}

/* ---- end ports ---- */

/* Calls a function for each end port that is known. */
typedef void end_port_visitor(void *context, const struct subnet *subnet,
                              const struct subnet_node *node, const struct subnet_port *port);

static void visit_end_ports(const struct subnet *subnet, end_port_visitor *visit, void *context)
{
    for (size_t i = 0; i < subnet->nodes.count; i++) {
        const struct subnet_node *node = &subnet->nodes.items[i];
        bool is_switch = node->kind == SUBNET_SWITCH;
        for (unsigned n = is_switch ? 0 : 1;
             node->present && n <= (is_switch ? 0 : node->port_count); n++)
            if (subnet->ports.items[node->first_port + n].known)
                visit(context, subnet, node, &subnet->ports.items[node->first_port + n]);
    }
}

static void put_end_port(void *context, const struct subnet *subnet, const struct subnet_node *node,
                         const struct subnet_port *port)
{
    struct record *record = context;
    record_begin(record, NULL);
    record_string(record, "kind", "%-7s", node->kind == SUBNET_SWITCH ? "switch" : "adapter");
    record_guid(record, "guid", " 0x%016llx", port->guid);
    record_number(record, "port", " port %-3llu", port->number);
    record_number(record, "lid", " LID %5llu", port->lid);
    record_number(record, "hops", "  %2llu hops", port->hops);
    record_string(record, "description", "  %s\n", subnet_node_label(subnet, node));
    record_end(record);
}

static int answer_topology(struct control_call *call)
{
    const struct manager_view *view = call->subject;
    struct record record = control_record(call);
    record_begin_list(&record, NULL);
    visit_end_ports(sm_subnet(view->sm), put_end_port, &record);
    record_end_list(&record);
    return 0;
}

/* ---- partitions and groups ---- */

struct membership_counts {
    const struct partitions *partitions;
    uint32_t self; /* the manager's port */
    struct partition_keys keys;
    unsigned *full, *limited; /* by partition; of adapters */
};

static void count_memberships(void *context, const struct subnet *subnet,
                              const struct subnet_node *node, const struct subnet_port *port)
{
    struct membership_counts *counts = context;
    uint32_t end = (uint32_t)(port - subnet->ports.items);
    const struct partition_port described = {
        .guid = port->guid, .kind = node->kind, .self = end == counts->self};
    if (node->kind == SUBNET_SWITCH)
        return;
    partitions_find_keys(counts->partitions, &described, &counts->keys);
    for (size_t i = 0; i < counts->keys.keys.count; i++) {
        uint16_t key = counts->keys.keys.items[i];
        uint32_t at = map_get(&counts->partitions->by_key, key & ~PARTITION_FULL);
        if (at != MAP_NONE)
            (key & PARTITION_FULL ? counts->full : counts->limited)[at]++;
    }
}

/* The members that the rules give to each partition, of the end ports of the subnet. */
static int answer_partitions(struct control_call *call)
{
    const struct manager_view *view = call->subject;
    const struct subnet *subnet = sm_subnet(view->sm);
    struct record record = control_record(call);
    size_t number = view->partitions ? view->partitions->all.count : 0;
    struct membership_counts counts = {.partitions = view->partitions,
                                       .self = subnet->own_port,
                                       .full = mem_zalloc(number + 1, sizeof *counts.full),
                                       .limited = mem_zalloc(number + 1, sizeof *counts.limited)};
    if (number)
        visit_end_ports(subnet, count_memberships, &counts);
    else
        record_text(&record, "the manager writes no partition tables\n");
    record_begin_list(&record, NULL);
    for (size_t i = 0; i < number; i++) {
        const struct partition *partition = &view->partitions->all.items[i];
        char key[16];
        snprintf(key, sizeof key, "0x%04x", partition->key);
        record_begin(&record, NULL);
        record_string(&record, "p_key", "%s", key);
        record_number(&record, "full", " %6llu full", counts.full[i]);
        record_number(&record, "limited", " %6llu limited", counts.limited[i]);
        record_string(&record, "name", "  %s\n", partition->name);
        record_end(&record);
    }
    record_end_list(&record);
    partition_keys_release(&counts.keys);
    mem_free(counts.full);
    mem_free(counts.limited);
    return 0;
}

static int answer_groups(struct control_call *call)
{
    const struct manager_view *view = call->subject;
    struct record record = control_record(call);
    size_t number = view->groups ? view->groups->all.count : 0;
    if (!number)
        record_text(&record, "multicast groups: none\n");
    record_begin_list(&record, NULL);
    for (size_t i = 0; i < number; i++) {
        const struct group *group = view->groups->all.items[i];
        char mgid[INET6_ADDRSTRLEN], mlid[16], key[16];
        inet_ntop(AF_INET6, group->mgid, mgid, sizeof mgid);
        snprintf(mlid, sizeof mlid, "0x%04x", group->mlid);
        snprintf(key, sizeof key, "0x%04x", group->p_key);
        record_begin(&record, NULL);
        record_string(&record, "mlid", "%s", mlid);
        record_string(&record, "p_key", " P_Key %s", key);
        record_number(&record, "members", " %6llu members", group->members.count);
        record_string(&record, "mgid", "  %s\n", mgid);
        record_end(&record);
    }
    record_end_list(&record);
    return 0;
}

/* ---- tables ---- */

static void print_file(void (*print)(const struct dump_snapshot *, FILE *), const void *snapshot,
                       bool as_json, struct text *out)
{
    char *words = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&words, &length);
    if (!file)
        return;
    print(snapshot, file);
    fclose(file);
    if (as_json)
        json_string(&(struct json){.out = out}, NULL, words ? words : "");
    else
        text_append(out, words ? words : "", length);
    free(words);
}

static void print_tables(const void *snapshot, bool json, struct text *out)
{
    if (json)
        dump_print_lfts_json(snapshot, out);
    else
        print_file(dump_print_lfts, snapshot, false, out);
}

static void print_dump(const void *snapshot, bool json, struct text *out)
{
    print_file(dump_print_subnet, snapshot, json, out);
}

static void release_tables(void *snapshot)
{
    dump_snapshot_free(snapshot);
}

/* Prints a copy of the acknowledged tables later. */
static int answer_routes(struct control_call *call)
{
    const struct manager_view *view = call->subject;
    call->answer->data = dump_snapshot_take(sm_subnet(view->sm));
    call->answer->print = print_tables;
    call->answer->release = release_tables;
    return 0;
}

static int answer_subnet(struct control_call *call)
{
    int status = answer_routes(call);
    call->answer->print = print_dump;
    return status;
}

const struct control_command manager_view_commands[] = {
    {"status", "", 0, 0, CONTROL_MANAGER, "state, port, subnet, SMPs, number of problems",
     answer_status},
    {"problems", "", 0, 0, CONTROL_MANAGER, "present problems of the subnet, by location",
     answer_problems},
    {"topology", "", 0, 0, CONTROL_MANAGER, "end ports with GUID, LID and distance",
     answer_topology},
    {"routes", "", 0, 0, CONTROL_MANAGER, "acknowledged tables", answer_routes},
    {"subnet", "", 0, 0, CONTROL_MANAGER, "routers, links and tables, for 'weft verify A B'",
     answer_subnet},
    {"partitions", "", 0, 0, CONTROL_MANAGER, "members of partitions", answer_partitions},
    {"groups", "", 0, 0, CONTROL_MANAGER, "multicast groups", answer_groups},
    {0}};
