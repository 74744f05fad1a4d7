/* Reads user routes, finds their nodes in a network, and writes their entries into tables. */
#include "routing/engine/user_routes.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* ---- files ---- */

static bool parse_place(const char *text, uint64_t least_guid, struct arena *memory,
                        struct user_place *place)
{
    uint64_t number;
    *place = (struct user_place){0};
    if (!parse_number(text, &number)) {
        place->name = arena_strdup(memory, text);
        return true;
    }
    if (strncasecmp(text, "0x", 2) == 0 && number >= least_guid)
        place->guid = number;
    else
        place->lid = number <= NETWORK_TOP_LID ? (uint16_t)number : 0;
    return place->guid || place->lid;
}

static bool parse_entry(const struct cursor *line, struct arena *memory, struct user_route *entry)
{
    uint64_t port;
    if (line->count != 3 || !parse_place(line->words[0].text, 0, memory, &entry->at) ||
        !parse_place(line->words[1].text, UINT16_MAX + 1, memory, &entry->to) ||
        !parse_bounded(line->words[2].text, 0, NETWORK_TOP_PORT, &port))
        return false;
    entry->port = (uint8_t)port;
    entry->line = line->words[0].line;
    return true;
}

int user_routes_read(struct user_routes *user, struct line_reader *lines)
{
    struct cursor line;
    struct user_route entry;
    *user = (struct user_routes){0};
    while (line_reader_next(lines, &line))
        if (parse_entry(&line, &user->memory, &entry))
            vec_push(&user->entries, entry);
        else
            line_reader_error(lines, "expected SWITCH DESTINATION PORT: two nodes by GUID (0x...), "
                                     "LID or name, and a port number");
    if (lines->status)
        user_routes_release(user);
    return lines->status;
}

void user_routes_release(struct user_routes *user)
{
    vec_release(&user->entries);
    arena_release(&user->memory);
}

/* ---- nodes of a network ---- */

static bool is_place(const struct network *network, uint32_t end_point, uint64_t guid,
                     const struct user_place *place)
{
    const char *name = network_name_of(network, end_point);
    return place->guid ? guid == place->guid : name && strcmp(name, place->name) == 0;
}

/* The end point, or NETWORK_NONE if there is none or if several have the name. */
static uint32_t find_place(const struct network *network, const struct user_place *place,
                           bool is_switch)
{
    uint32_t found = NETWORK_NONE, count = 0;
    if (place->lid)
        return network_owner(network, place->lid);
    for (uint32_t at = 0; at < network->switches.count; at++)
        if (is_place(network, NETWORK_SWITCH | at, network->switches.items[at].guid, place)) {
            found = NETWORK_SWITCH | at;
            count++;
        }
    for (uint32_t i = 0; i < network->terminals.count && !is_switch; i++)
        if (is_place(network, i, network->terminals.items[i].guid, place)) {
            found = i;
            count++;
        }
    return count == 1 ? found : NETWORK_NONE;
}

uint32_t user_route_switch(const struct user_route *entry, const struct network *network)
{
    uint32_t found = find_place(network, &entry->at, true);
    return found != NETWORK_NONE && (found & NETWORK_SWITCH) ? found & ~NETWORK_SWITCH
                                                             : NETWORK_NONE;
}

unsigned user_route_lids(const struct user_route *entry, const struct network *network,
                         unsigned *first)
{
    *first = entry->to.lid;
    if (entry->to.lid)
        return 1;
    uint32_t found = find_place(network, &entry->to, false);
    if (found == NETWORK_NONE)
        return 0;
    *first = network_lid(network, found);
    return *first ? 1u << network_lmc(network, found) : 0;
}

static const char *place_text(const struct user_place *place, char buffer[NETWORK_LABEL_BYTES])
{
    if (place->name)
        snprintf(buffer, NETWORK_LABEL_BYTES, "'%.80s'", place->name);
    else if (place->guid)
        snprintf(buffer, NETWORK_LABEL_BYTES, "0x%016llx", (unsigned long long)place->guid);
    else
        snprintf(buffer, NETWORK_LABEL_BYTES, "LID %u", place->lid);
    return buffer;
}

static bool has_port(const struct user_route *entry, const struct network *network)
{
    uint32_t at = user_route_switch(entry, network);
    return at != NETWORK_NONE && entry->port <= network->switches.items[at].port_count;
}

int user_routes_check(const struct user_routes *user, const struct network *network,
                      const char *file, struct err *err)
{
    char text[NETWORK_LABEL_BYTES];
    unsigned first;
    for (size_t i = 0; i < user->entries.count; i++) {
        const struct user_route *entry = &user->entries.items[i];
        if (user_route_switch(entry, network) == NETWORK_NONE)
            return err_at(err, ENOENT, file, entry->line, "no switch, or more than one, is %s",
                          place_text(&entry->at, text));
        if (user_route_lids(entry, network, &first) == 0 ||
            network_owner(network, (uint16_t)first) == NETWORK_NONE)
            return err_at(err, ENOENT, file, entry->line, "no port, or more than one, is %s",
                          place_text(&entry->to, text));
        if (!has_port(entry, network))
            return err_at(err, EINVAL, file, entry->line, "%s has no port %u",
                          place_text(&entry->at, text), entry->port);
    }
    return 0;
}

/* ---- tables ---- */

void user_routes_apply(const struct user_routes *user, const struct network *network,
                       struct routes *routes)
{
    assert(routes->switch_count == network->switches.count);
    for (size_t i = 0; i < user->entries.count; i++) {
        const struct user_route *entry = &user->entries.items[i];
        uint32_t at = user_route_switch(entry, network);
        unsigned first, count = user_route_lids(entry, network, &first);
        if (!has_port(entry, network))
            continue;
        for (unsigned lid = first; lid < first + count && lid < routes->stride; lid++) {
            routes_row(routes, at)[lid] = entry->port;
            if (routes->explicit_bits)
                bitset_add(routes->explicit_bits, (size_t)at * routes->stride + lid);
        }
    }
}
