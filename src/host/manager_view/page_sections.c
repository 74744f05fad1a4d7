/* Sections of the page from the manager's own records: itself and other SMs by SMInfo, its changes
 * of the subnet, problems with their places, virtual machines and hypervisors. */
#include "host/manager_view/machine_control.h"
#include "host/manager_view/manager_page.h"

enum { PROBLEMS_SHOWN = 200 };

/* ---- managers ---- */

struct api_manager manager_page_own(const struct sm *sm, const struct sm_config *config)
{
    struct sm_progress progress = sm_progress(sm);
    struct subnet_node_counts nodes = subnet_count_nodes(sm_subnet(sm));
    struct sm_change change;
    bool works = sm_change_at(sm, 0, &change) && change.outcome == SM_UNDER_WAY;
    return (struct api_manager){
        .state = sm_state_names[sm_state(sm)],
        .phase = sm_phase_name(progress.phase),
        .wave = progress.wave,
        .waves = progress.waves,
        .draining = progress.draining,
        .priority = config->priority,
        .engine = config->engine->name,
        .settled = sm_is_settled(sm),
        .nodes = nodes.switches + nodes.adapters,
        .prefix = config->subnet_prefix,
        .change = works ? change.number : API_NONE,
        .poll_ns = config->poll_ns,
        .polls = config->poll_retries + 1,
    };
}

/* False: the page has no node for its port. */
static bool put_manager(const struct manager_page *page, uint32_t port, struct api_manager *manager,
                        struct record *record)
{
    const struct subnet *subnet = sm_subnet(page->sm);
    manager->node = port < subnet->ports.count
                        ? manager_page_node(page, subnet->ports.items[port].node)
                        : TOPOLOGY_NONE;
    if (manager->node == TOPOLOGY_NONE)
        return false;
    manager->name = topology_label(page->topology, manager->node);
    api_manager_put(manager, record);
    return true;
}

void manager_page_put_managers(const struct manager_page *page, const struct sm_config *config,
                               struct text *out)
{
    const struct subnet *subnet = sm_subnet(page->sm);
    struct record record = record_to(out, true, false);
    struct api_manager own = manager_page_own(page->sm, config);
    struct api_manager other = {.id = 1, .phase = sm_phase_name(SM_PHASE_IDLE), .change = API_NONE};
    record_begin_list(&record, NULL);
    put_manager(page, subnet->own_port, &own, &record);
    for (uint32_t i = 0; i < subnet->ports.count; i++) {
        const struct subnet_port *port = &subnet->ports.items[i];
        if (!port->manager || i == subnet->own_port)
            continue;
        other.state = sm_state_names[port->manager_state & 3];
        other.priority = port->manager_priority;
        other.id += put_manager(page, i, &other, &record);
    }
    record_end_list(&record);
}

/* ---- changes ---- */

static uint64_t time_since(uint64_t origin_ns, uint64_t ns)
{
    return ns ? ns - origin_ns : API_NONE;
}

void manager_page_put_changes(const struct manager_page *page, uint64_t origin_ns, struct text *out)
{
    struct record record = record_to(out, true, false);
    struct sm_change change;
    record_begin_list(&record, NULL);
    for (unsigned back = SM_CHANGES_KEPT; back-- > 0;) {
        if (!sm_change_at(page->sm, back, &change))
            continue;
        const struct api_change shown = {
            .id = change.number,
            .cause = change.text,
            .fault = API_NONE, /* a manager of hardware sees only its report */
            .begin = time_since(origin_ns, change.begin),
            .routing = time_since(origin_ns, change.routing),
            .routed = time_since(origin_ns, change.routed),
            .end = time_since(origin_ns, change.end),
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

void manager_page_put_problems(const struct manager_page *page, const struct problems *problems,
                               uint64_t origin_ns, struct text *out)
{
    struct json json = {.out = out};
    struct text place = {0};
    json_begin_array(&json, NULL);
    for (size_t i = 0; i < problems->items.count && i < PROBLEMS_SHOWN; i++) {
        const struct problem *problem = &problems->items.items[i];
        const struct subnet_place *at = &problem->place;
        uint32_t link = api_link_of(page->topology, page->links, at->guid, at->port);
        if (link == TOPOLOGY_NONE)
            link = api_link_of(page->topology, page->links, at->peer_guid, at->peer_port);
        text_clear(&place);
        text_puts(&place, "");
        uint32_t node = api_node_of(page->topology, at->guid);
        if (page->sm)
            problem_put_place(problem, sm_subnet(page->sm), &place);
        else if (node != TOPOLOGY_NONE)
            text_puts(&place, topology_label(page->topology, node));
        json_begin_object(&json, NULL);
        json_string(&json, "kind", problem_infos[problem->kind].name);
        json_string(&json, "place", place.data);
        json_string(&json, "text", problem->text);
        json_string(&json, "advice", problem_infos[problem->kind].advice);
        json_unsigned(&json, "severity", problem_infos[problem->kind].severity);
        json_unsigned(&json, "since",
                      problem->since_ns > origin_ns ? problem->since_ns - origin_ns : 0);
        api_put_id(&json, "node", node);
        api_put_id(&json, "link", link);
        json_end_object(&json);
    }
    json_end_array(&json);
    text_release(&place);
}

/* ---- machines ---- */

/* The adapter of a hypervisor. */
static uint32_t hypervisor_node(const struct manager_page *page, uint32_t vswitch)
{
    const struct subnet *subnet = sm_subnet(page->sm);
    uint32_t pf = subnet_pf_of(subnet, vswitch);
    return pf < subnet->ports.count ? manager_page_node(page, subnet->ports.items[pf].node)
                                    : TOPOLOGY_NONE;
}

void manager_page_put_machines(const struct manager_page *page, const struct vswitch *machines,
                               struct text *vms, struct text *hypervisors)
{
    const struct subnet *subnet = sm_subnet(page->sm);
    struct json json = {.out = vms};
    struct vswitch_vm machine;
    char pending[128];
    json_begin_array(&json, NULL);
    for (uint32_t cursor = 0; vswitch_next_vm(machines, &cursor, &machine);) {
        json_begin_object(&json, NULL);
        if (*machine.name)
            json_string(&json, "name", machine.name);
        else
            json_stringf(&json, "name", "0x%016llx", (unsigned long long)machine.guid);
        api_put_id(&json, "node",
                   machine.vswitch == SUBNET_NONE ? TOPOLOGY_NONE
                                                  : hypervisor_node(page, machine.vswitch));
        json_string(&json, "state", machine_state_name(&machine));
        if (machine_pending(&machine, pending, sizeof pending))
            json_string(&json, "pending", pending);
        json_unsigned(&json, "lid", machine.lid);
        json_end_object(&json);
    }
    json_end_array(&json);
    json = (struct json){.out = hypervisors};
    json_begin_array(&json, NULL);
    for (uint32_t row = 0; row < subnet->nodes.count; row++) {
        const struct subnet_node *node = &subnet->nodes.items[row];
        if (node->vswitch && node->present && hypervisor_node(page, row) != TOPOLOGY_NONE)
            json_unsigned(&json, NULL, hypervisor_node(page, row));
    }
    json_end_array(&json);
}
