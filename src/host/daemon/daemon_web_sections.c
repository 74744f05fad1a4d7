#include "host/daemon/daemon_web.h"

#include "host/manager_view/manager_view.h"
#include "vswitch/vswitch.h"

static const char *const state_names[] = {"not active", "discovering", "standby", "master"};

static uint32_t node_of_port(const struct daemon_web *web, uint32_t port)
{
    const struct subnet *subnet = sm_subnet(web->daemon->sm);
    return port < subnet->ports.count ? daemon_web_node(web, subnet->ports.items[port].node)
                                      : TOPOLOGY_NONE;
}

/* ---- managers ---- */

static void write_own(const struct daemon_web *web, uint32_t node, struct record *record)
{
    const struct daemon *daemon = web->daemon;
    const struct subnet *subnet = sm_subnet(daemon->sm);
    struct sm_progress progress = sm_progress(daemon->sm);
    struct sm_change change;
    bool works = sm_change_at(daemon->sm, 0, &change) && change.outcome == SM_UNDER_WAY;
    const struct subnet_node_counts nodes = subnet_count_nodes(subnet);
    const struct api_manager own = {
        .node = node,
        .name = topology_label(&web->view.topology, node),
        .state = state_names[sm_state(daemon->sm)],
        .phase = sm_phase_name(progress.phase),
        .wave = progress.wave,
        .waves = progress.waves,
        .draining = progress.draining,
        .priority = daemon->config->sm.priority,
        .engine = daemon->config->sm.engine->name,
        .settled = sm_is_settled(daemon->sm),
        .nodes = nodes.switches + nodes.adapters,
        .change = works ? change.number : API_NONE,
    };
    api_manager_put(&own, record);
}

/* This manager, then those that it knows, with the state of their last SMInfo. */
static void write_managers(struct daemon_web *web)
{
    const struct subnet *subnet = sm_subnet(web->daemon->sm);
    struct record record =
        record_to(api_tick_section(&web->publisher.tick, API_MANAGERS), true, false);
    struct api_manager other = {.phase = sm_phase_name(SM_PHASE_IDLE), .change = API_NONE};
    record_begin_list(&record, NULL);
    if (node_of_port(web, subnet->own_port) != TOPOLOGY_NONE)
        write_own(web, node_of_port(web, subnet->own_port), &record);
    for (uint32_t i = 0; i < subnet->ports.count; i++) {
        const struct subnet_port *port = &subnet->ports.items[i];
        if (!port->manager || i == subnet->own_port || node_of_port(web, i) == TOPOLOGY_NONE)
            continue;
        other.id++;
        other.node = node_of_port(web, i);
        other.name = topology_label(&web->view.topology, other.node);
        other.state = state_names[port->manager_state & 3];
        other.priority = port->manager_priority;
        api_manager_put(&other, &record);
    }
    record_end_list(&record);
}

/* ---- changes ---- */

static uint64_t time_of(const struct daemon_web *web, uint64_t now)
{
    return now ? now - web->start_ns : API_NONE;
}

static void write_changes(struct daemon_web *web)
{
    struct record record =
        record_to(api_tick_section(&web->publisher.tick, API_CHANGES), true, false);
    struct sm_change change;
    record_begin_list(&record, NULL);
    for (unsigned back = SM_CHANGES_KEPT; back-- > 0;) {
        if (!sm_change_at(web->daemon->sm, back, &change))
            continue;
        const struct api_change shown = {
            .id = change.number,
            .cause = change.text,
            .fault = API_NONE, /* a manager of hardware sees only its report */
            .begin = time_of(web, change.begin),
            .routing = time_of(web, change.routing),
            .routed = time_of(web, change.routed),
            .end = time_of(web, change.end),
            .finished = change.outcome == SM_FINISHED,
            .gets = change.requests.gets,
            .sets = change.requests.sets,
            .blocks = change.requests.tables - change.requests.tables_read,
            .draining_ns = change.drained_ns,
        };
        api_change_put(&shown, &record);
    }
    record_end_list(&record);
}

/* ---- problems ---- */

static void write_problems(struct daemon_web *web)
{
    manager_view_page_problems(&web->daemon->problems.known, sm_subnet(web->daemon->sm),
                               &web->view.topology, &web->view.links, web->start_ns,
                               api_tick_section(&web->publisher.tick, API_PROBLEMS));
}

/* ---- machines ---- */

/* The adapter of a hypervisor. */
static uint32_t hypervisor_node(const struct daemon_web *web, uint32_t vswitch)
{
    uint32_t pf = subnet_pf_of(sm_subnet(web->daemon->sm), vswitch);
    return pf == SUBNET_NONE ? TOPOLOGY_NONE : node_of_port(web, pf);
}

static void write_machines(struct daemon_web *web)
{
    const struct subnet *subnet = sm_subnet(web->daemon->sm);
    struct json json = {.out = api_tick_section(&web->publisher.tick, API_VMS)};
    struct vswitch_vm machine;
    json_begin_array(&json, NULL);
    for (uint32_t cursor = 0; vswitch_next_vm(web->daemon->machines, &cursor, &machine);) {
        json_begin_object(&json, NULL);
        if (*machine.name)
            json_string(&json, "name", machine.name);
        else
            json_stringf(&json, "name", "0x%016llx", (unsigned long long)machine.guid);
        api_put_id(&json, "node", hypervisor_node(web, machine.vswitch));
        json_string(&json, "state",
                    machine.moving      ? "moving"
                    : machine.reachable ? "running"
                                        : "unreachable");
        json_unsigned(&json, "lid", machine.lid);
        json_end_object(&json);
    }
    json_end_array(&json);
    json = (struct json){.out = api_tick_section(&web->publisher.tick, API_HYPERVISORS)};
    json_begin_array(&json, NULL);
    for (uint32_t row = 0; row < subnet->nodes.count; row++) {
        const struct subnet_node *node = &subnet->nodes.items[row];
        if (node->vswitch && node->present && hypervisor_node(web, row) != TOPOLOGY_NONE)
            json_unsigned(&json, NULL, hypervisor_node(web, row));
    }
    json_end_array(&json);
}

void daemon_web_write_sections(struct daemon_web *web)
{
    write_managers(web);
    write_changes(web);
    write_problems(web);
    write_machines(web);
}
