#include "host/daemon/cabling.h"

#include "topology/diff.h"
#include "topology/virtual.h"
#include "wire/link_rate.h"

#include <string.h>

enum { LOGGED_MOST = 20 };

static uint8_t width_of(unsigned lanes)
{
    static const uint8_t widths[] = {WIDTH_1X, WIDTH_2X, WIDTH_4X, WIDTH_8X, WIDTH_12X};
    for (size_t i = 0; i < sizeof widths; i++)
        if (link_width_multiple(widths[i]) == lanes)
            return widths[i];
    return WIDTH_4X;
}

static uint8_t speed_of(uint32_t lane_rate)
{
    const char *name = link_lane_rate_name(lane_rate);
    for (unsigned speed = SPEED_SDR; speed <= SPEED_XDR; speed++)
        if (strcmp(link_speed_name(speed), name) == 0)
            return (uint8_t)speed;
    return SPEED_SDR;
}

static void set_rate(struct topology_port *port, const struct subnet_port *from)
{
    port->width_assumed = port->speed_assumed = !from->known || !link_rate(from->info);
    port->width = width_of(link_lanes(from->info));
    port->speed = speed_of(link_lane_rate(from->info));
}

/* The subnet as a topology, without virtual switches and functions. */
static void describe_subnet(struct topology *result, const struct subnet *subnet)
{
    struct topology whole;
    struct virtual_counts counts;
    uint32_t *place = mem_alloc((subnet->nodes.count + 1) * sizeof *place);
    topology_init(&whole);
    for (uint32_t i = 0; i < subnet->nodes.count; i++) {
        const struct subnet_node *node = &subnet->nodes.items[i];
        place[i] = TOPOLOGY_NONE;
        if (!node->present || topology_add_bare_node(&whole, (enum node_kind)node->kind, NULL,
                                                     node->port_count, node->guid, &place[i], NULL))
            continue;
        whole.nodes.items[place[i]].device_id = node->device;
        topology_set_description(&whole, place[i], node->description,
                                 strnlen(node->description, TOPOLOGY_DESCRIPTION_BYTES));
    }
    for (uint32_t i = 0; i < subnet->ports.count; i++) {
        const struct subnet_port *port = &subnet->ports.items[i];
        if (port->peer == SUBNET_NONE || port->peer < i || place[port->node] == TOPOLOGY_NONE)
            continue;
        const struct subnet_port *peer = &subnet->ports.items[port->peer];
        if (place[peer->node] == TOPOLOGY_NONE)
            continue;
        uint32_t a = topology_port_index(&whole, place[port->node], port->number);
        uint32_t b = topology_port_index(&whole, place[peer->node], peer->number);
        if (topology_link(&whole, a, b, NULL) == 0) {
            set_rate(&whole.ports.items[a], port);
            set_rate(&whole.ports.items[b], port);
        }
    }
    topology_init(result);
    topology_without_functions(result, &whole, &counts);
    topology_release(&whole);
    mem_free(place);
}

void cabling_list_problems(const struct topology *plan, const struct subnet *subnet,
                           struct problems *problems)
{
    struct topology actual;
    struct topology_diff diff;
    if (!plan)
        return;
    describe_subnet(&actual, subnet);
    topology_diff(&diff, plan, &actual);
    for (size_t i = 0; i < diff.items.count; i++) {
        struct text text = {0};
        topology_diff_print(&diff, &diff.items.items[i], &text);
        problems_add(problems, PROBLEM_WRONG_CABLE, difference_kind_name(diff.items.items[i].kind),
                     "%s", text.data);
        text_release(&text);
    }
    topology_diff_release(&diff);
    topology_release(&actual);
}

static bool was_logged(const struct cabling *cabling, const char *text)
{
    for (size_t i = 0; i < cabling->logged.count; i++)
        if (strcmp(cabling->logged.items[i], text) == 0)
            return true;
    return false;
}

void cabling_log(struct cabling *cabling, const struct topology *plan, const struct subnet *subnet,
                 struct event_log *log)
{
    struct problems problems = {0};
    struct cabling now = {0};
    unsigned found = 0;
    cabling_list_problems(plan, subnet, &problems);
    for (size_t i = 0; i < problems.items.count; i++) {
        const struct problem *problem = &problems.items.items[i];
        if (found < LOGGED_MOST && !was_logged(cabling, problem->text)) {
            event_log_write(log, "warning", "%s: %s", problem->place, problem->text);
            found++;
        }
        vec_push(&now.logged, mem_strdup(problem->text));
    }
    if (cabling->logged.count && !now.logged.count)
        event_log_write(log, "cables", "all cables are as planned");
    cabling_release(cabling);
    *cabling = now;
    problems_release(&problems);
}

void cabling_release(struct cabling *cabling)
{
    for (size_t i = 0; i < cabling->logged.count; i++)
        mem_free(cabling->logged.items[i]);
    vec_release(&cabling->logged);
}
