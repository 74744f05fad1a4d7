/* Chooses routers for prefixes, from rules and from what routers announce. */
#include "subnet/prefix_routes.h"

#include "subnet/subnet.h"

#include <stdlib.h>

/* ---- rules ---- */

static uint64_t take_number(struct cursor *line, const char *what)
{
    struct word word;
    char *end;
    cursor_take(line, what, &word);
    if (line->status < 0 || strcmp(word.text, "*") == 0)
        return 0;
    uint64_t number = strtoull(word.text, &end, 16);
    if (*end || !number || word.text[0] == '-')
        word_error(line, &word, "'%.40s': expected %s, 64 bits in hexadecimal digits, or *",
                   word.text, what);
    return number;
}

static int read_rule(struct prefix_rules *rules, struct cursor *line)
{
    struct prefix_rule rule;
    rule.prefix = take_number(line, "a subnet prefix");
    rule.guid = take_number(line, "the GUID of a router's port");
    if (cursor_take_end(line) < 0)
        return line->status;
    vec_push(&rules->items, rule);
    return 0;
}

int prefix_rules_read(struct prefix_rules *rules, struct line_reader *lines)
{
    struct cursor line;
    *rules = (struct prefix_rules){0};
    while (line_reader_next(lines, &line))
        lines->status = read_rule(rules, &line);
    if (lines->status < 0)
        prefix_rules_release(rules);
    return lines->status;
}

void prefix_rules_release(struct prefix_rules *rules)
{
    vec_release(&rules->items);
}

/* ---- what routers announce ---- */

void prefix_routes_release(struct prefix_routes *routes)
{
    vec_release(&routes->learnt);
}

static int compare_routes(const void *a, const void *b)
{
    const struct prefix_route *one = a, *other = b;
    if (one->prefix != other->prefix)
        return one->prefix < other->prefix ? -1 : 1;
    return (one->port > other->port) - (one->port < other->port);
}

bool prefix_routes_learn(struct prefix_routes *routes, uint32_t port,
                         const struct prefix_route *found, size_t count)
{
    size_t same = 0, known = 0, kept = 0;
    for (size_t i = 0; i < routes->learnt.count; i++) {
        const struct prefix_route *route = &routes->learnt.items[i];
        if (route->port != port)
            continue;
        known++;
        for (size_t j = 0; j < count; j++)
            same += found[j].prefix == route->prefix && found[j].weight == route->weight;
    }
    if (same == count && known == count)
        return false;
    for (size_t i = 0; i < routes->learnt.count; i++)
        if (routes->learnt.items[i].port != port)
            routes->learnt.items[kept++] = routes->learnt.items[i];
    routes->learnt.count = kept;
    for (size_t i = 0; i < count; i++) {
        struct prefix_route route = found[i];
        route.port = port;
        vec_push(&routes->learnt, route);
    }
    if (routes->learnt.count)
        qsort(routes->learnt.items, routes->learnt.count, sizeof *routes->learnt.items,
              compare_routes);
    return true;
}

/* ---- choice ---- */

static bool is_router_port(const struct subnet *subnet, uint32_t port)
{
    const struct subnet_port *at = &subnet->ports.items[port];
    const struct subnet_node *node = &subnet->nodes.items[at->node];
    return node->kind == SUBNET_ROUTER && node->present && at->known && at->lid &&
           at->peer != SUBNET_NONE;
}

static unsigned add_choice(uint32_t ports[PREFIX_CHOICES], unsigned count, uint32_t port)
{
    if (count < PREFIX_CHOICES)
        ports[count++] = port;
    return count;
}

/* The learnt routers with the least weight. */
static unsigned find_learnt(const struct subnet *subnet, uint64_t prefix, uint32_t not_at,
                            uint32_t ports[PREFIX_CHOICES], uint8_t *weight)
{
    const struct prefix_routes *routes = &subnet->prefix_routes;
    unsigned count = 0;
    *weight = ROUTER_WEIGHT_MOST;
    for (size_t i = 0; i < routes->learnt.count; i++) {
        const struct prefix_route *route = &routes->learnt.items[i];
        if (route->prefix != prefix || route->weight > *weight ||
            subnet->ports.items[route->port].node == not_at || !is_router_port(subnet, route->port))
            continue;
        if (route->weight < *weight)
            count = 0;
        *weight = route->weight;
        count = add_choice(ports, count, route->port);
    }
    return count;
}

/* The routers of one rule. Any router: those that announce the prefix; if none does, all. */
static unsigned find_by_rule(const struct subnet *subnet, const struct prefix_rule *rule,
                             uint64_t prefix, uint32_t not_at, uint32_t ports[PREFIX_CHOICES])
{
    uint8_t weight;
    unsigned count = rule->guid ? 0 : find_learnt(subnet, prefix, not_at, ports, &weight);
    for (uint32_t node = 0; node < subnet->nodes.count && !count; node++) {
        const struct subnet_node *at = &subnet->nodes.items[node];
        if (at->kind != SUBNET_ROUTER || !at->present || node == not_at)
            continue;
        for (unsigned i = 1; i <= at->port_count; i++)
            if (is_router_port(subnet, at->first_port + i) &&
                subnet->ports.items[at->first_port + i].guid == rule->guid)
                count = add_choice(ports, count, at->first_port + i);
    }
    for (uint32_t node = 0; node < subnet->nodes.count && !count && !rule->guid; node++) {
        const struct subnet_node *at = &subnet->nodes.items[node];
        for (unsigned i = 1; i <= at->port_count && node != not_at; i++)
            if (is_router_port(subnet, at->first_port + i))
                count = add_choice(ports, count, at->first_port + i);
    }
    return count;
}

/* Both subnets of a pair must have the same order, which that of their ports is not. */
static void sort_choices(const struct subnet *subnet, uint32_t ports[PREFIX_CHOICES],
                         unsigned count)
{
    for (unsigned i = 1; i < count; i++)
        for (unsigned j = i; j > 0; j--) {
            uint32_t one = ports[j - 1], other = ports[j];
            uint64_t guid = subnet->nodes.items[subnet->ports.items[one].node].guid;
            if (guid <= subnet->nodes.items[subnet->ports.items[other].node].guid)
                break;
            ports[j - 1] = other;
            ports[j] = one;
        }
}

unsigned prefix_routes_find(const struct subnet *subnet, uint64_t prefix, uint32_t not_at,
                            uint32_t ports[PREFIX_CHOICES], uint8_t *weight)
{
    const struct prefix_rules *rules = subnet->prefix_routes.rules;
    uint8_t least = 1;
    unsigned count = 0;
    for (size_t i = 0; rules && i < rules->items.count && !count; i++)
        if (!rules->items.items[i].prefix || rules->items.items[i].prefix == prefix)
            count = find_by_rule(subnet, &rules->items.items[i], prefix, not_at, ports);
    if (!count)
        count = find_learnt(subnet, prefix, not_at, ports, &least);
    sort_choices(subnet, ports, count);
    if (weight)
        *weight = least;
    return count;
}

uint32_t prefix_routes_choose(const struct subnet *subnet, uint64_t prefix, uint64_t flow)
{
    uint32_t ports[PREFIX_CHOICES];
    if (prefix == subnet->prefix_routes.own || prefix == GID_PREFIX_LOCAL)
        return SUBNET_NONE;
    unsigned count = prefix_routes_find(subnet, prefix, SUBNET_NONE, ports, NULL);
    return count ? ports[flow % count] : SUBNET_NONE;
}

/* ---- tables of routers ---- */

static unsigned want_prefix(const struct subnet *subnet, uint32_t port, uint64_t prefix,
                            struct prefix_route wanted[ROUTER_NEXT_HOPS], unsigned count)
{
    uint32_t ports[PREFIX_CHOICES];
    uint8_t weight;
    for (unsigned i = 0; i < count; i++)
        if (wanted[i].prefix == prefix)
            return count;
    if (!prefix || prefix == subnet->prefix_routes.own || count == ROUTER_NEXT_HOPS ||
        !prefix_routes_find(subnet, prefix, subnet->ports.items[port].node, ports, &weight))
        return count;
    wanted[count] = (struct prefix_route){.prefix = prefix, .port = port, .weight = weight};
    return count + 1;
}

unsigned prefix_routes_want(const struct subnet *subnet, uint32_t port,
                            struct prefix_route wanted[ROUTER_NEXT_HOPS])
{
    const struct prefix_routes *routes = &subnet->prefix_routes;
    unsigned count = 0;
    for (size_t i = 0; routes->rules && i < routes->rules->items.count; i++)
        count = want_prefix(subnet, port, routes->rules->items.items[i].prefix, wanted, count);
    for (size_t i = 0; i < routes->learnt.count; i++)
        count = want_prefix(subnet, port, routes->learnt.items[i].prefix, wanted, count);
    return count;
}
