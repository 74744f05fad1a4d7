/* DR as published: destination renaming (TPDS 2006, section 2.4).
 *
 * An algorithm that considers the input port computes the paths of all pairs of hosts: from each
 * host a breadth-first search over pairs of a node and a direction, ports in ascending order, since
 * a path that has gone down must not go up. Then the paths are taken one after the other. Each is
 * compared, switch by switch, with the entries for its destination. Where one of its switches has
 * another port already, the destination is renamed: the path goes to the next table without such a
 * conflict, if necessary a new one.
 *
 * DR is for pairs of hosts only. PIRa computes the routes from and to switches, so a complete set
 * of tables takes the steps of both: the paper leaves open which algorithm does, and its times (DR
 * twice FERa, ten times PIRa) do not leave room for FERa. */
#include "routing/paper/published.h"

#include <string.h>

/* A state of the search is 2 * node, plus 1 if the path to it has gone down. */
struct path_search {
    struct published *published;
    uint32_t *before; /* by state: the previous state; NETWORK_NONE: not reached */
    uint8_t *port;    /* by state: the port of the previous node */
};

static void find_paths(struct path_search *search, uint32_t source)
{
    struct published *published = search->published;
    memset(search->before, 0xFF, 2 * (size_t)published->count * sizeof *search->before);
    published->queue.count = 0;
    vec_push(&published->queue, 2 * source);
    for (size_t head = 0; head < published->queue.count; head++) {
        uint32_t state = published->queue.items[head];
        const struct published_node *node = &published->nodes[state / 2];
        published->steps += node->end_port - node->first_port;
        for (uint32_t i = node->first_port; i < node->end_port; i++) {
            const struct published_port *port = &published->ports[i];
            uint32_t next = 2 * port->to + !port->up;
            if ((port->up && state % 2 == 1) || search->before[next] != NETWORK_NONE)
                continue;
            search->before[next] = state;
            search->port[next] = port->number;
            if (published->nodes[port->to].table)
                vec_push(&published->queue, next);
        }
    }
}

/* Walks the path from its end. Tells whether a table has another port for one of its switches, or
 * writes the ports. */
static bool walk_path(struct path_search *search, uint32_t source, uint32_t destination,
                      uint32_t table, bool write)
{
    struct published *published = search->published;
    uint32_t state = 2 * destination + 1, before;
    uint64_t steps = 0;
    bool fits = true;
    for (; fits && (before = search->before[state]) / 2 != source; state = before) {
        uint8_t *entry = published_renamed(published, table, before / 2, destination);
        if (write)
            *entry = search->port[state];
        else
            fits = *entry == PORT_NONE || *entry == search->port[state];
        steps++;
    }
    published->steps += steps;
    return fits;
}

static void add_table(struct published *published)
{
    size_t bytes = (size_t)published->switch_count * published->count;
    vec_reserve(&published->renamed, (published->renamed_count + 1) * bytes);
    if (bytes)
        memset(published->renamed.items + published->renamed_count * bytes, PORT_NONE, bytes);
    published->renamed_count++;
}

static void place_path(struct path_search *search, uint32_t source, uint32_t destination)
{
    struct published *published = search->published;
    uint32_t table = 0;
    while (!walk_path(search, source, destination, table, false))
        if (++table == published->renamed_count)
            add_table(published);
    walk_path(search, source, destination, table, true);
    published->table_of_pair.items[(size_t)source * published->count + destination] =
        (uint16_t)table;
}

void published_dr(struct published *published)
{
    uint32_t count = published->count;
    struct path_search search = {.published = published};
    search.before = mem_alloc(2 * (size_t)count * sizeof *search.before);
    search.port = mem_alloc(2 * (size_t)count);
    published_pira(published);
    published->renamed_count = 0;
    add_table(published);
    vec_reserve(&published->table_of_pair, (size_t)count * count);
    for (size_t pair = 0; pair < (size_t)count * count; pair++)
        published->table_of_pair.items[pair] = PUBLISHED_NO_PATH;
    for (uint32_t source = 0; source < count; source++) {
        if (published->nodes[source].table)
            continue;
        find_paths(&search, source);
        for (uint32_t to = 0; to < count; to++)
            if (to != source && !published->nodes[to].table &&
                search.before[2 * to + 1] != NETWORK_NONE)
                place_path(&search, source, to);
    }
    mem_free(search.before);
    mem_free(search.port);
}
