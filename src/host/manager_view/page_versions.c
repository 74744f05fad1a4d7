/* Versions of the forwarding tables for the page of a manager: after a change, or a request for a
 * virtual machine, the confirmed LFTs of all switches except vSwitches are kept with time and
 * cause. */
#include "host/manager_view/machine_control.h"
#include "host/manager_view/manager_page.h"

static const uint8_t *table_of(const void *context, uint64_t guid, unsigned *top)
{
    const struct subnet *subnet = context;
    uint32_t row = map_get(&subnet->by_guid, guid);
    const struct subnet_node *node = row == MAP_NONE ? NULL : &subnet->nodes.items[row];
    if (!node || !node->present || !node->tables)
        return NULL;
    *top = node->tables->wanted_top;
    return node->tables->actual;
}

void manager_page_keep_tables(const struct manager_page *page, struct api_versions *versions,
                              struct api_version about, bool if_changed)
{
    const struct subnet *subnet = sm_subnet(page->sm);
    const struct sm_paths paths = sm_paths(page->sm);
    for (uint32_t row = 0; row < subnet->nodes.count; row++)
        if (subnet->nodes.items[row].kind == SUBNET_SWITCH && !subnet->nodes.items[row].vswitch)
            api_versions_add_switch(versions, subnet->nodes.items[row].guid);
    about.engine = paths.routes ? paths.routes->engine : "";
    api_versions_add(versions, &about, if_changed, table_of, subnet);
}

void manager_page_keep_moved(const struct manager_page *page, struct api_versions *versions,
                             const struct vswitch *machines, uint64_t manager, uint64_t origin_ns,
                             uint64_t *seen_ns)
{
    const struct vswitch_result *last = machines ? vswitch_last_result(machines) : NULL;
    struct text cause = {0};
    if (!last || last->ended_ns <= *seen_ns)
        return;
    *seen_ns = last->ended_ns;
    machine_control_put_cause(machines, last, &cause);
    const struct api_version about = {
        .t_ns = last->ended_ns - origin_ns, .manager = manager, .cause = cause.data};
    manager_page_keep_tables(page, versions, about, true);
    text_release(&cause);
}
