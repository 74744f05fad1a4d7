#include "routing/engine/user_routes.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static bool parse_entry(const struct cursor *line, struct user_route *entry)
{
    uint64_t node, lid, port;
    if (line->count != 3 || !parse_bounded(line->words[0].text, 1, UINT64_MAX, &node) ||
        !parse_bounded(line->words[1].text, 1, NETWORK_TOP_LID, &lid) ||
        !parse_bounded(line->words[2].text, 0, NETWORK_TOP_PORT, &port))
        return false;
    bool by_guid = strncasecmp(line->words[0].text, "0x", 2) == 0;
    *entry = (struct user_route){
        .guid = by_guid ? node : 0,
        .switch_lid = by_guid ? 0 : (uint16_t)node,
        .lid = (uint16_t)lid,
        .port = (uint8_t)port,
    };
    return by_guid || node <= NETWORK_TOP_LID;
}

int user_routes_read(struct user_routes *user, struct line_reader *lines)
{
    struct cursor line;
    struct user_route entry;
    *user = (struct user_routes){0};
    while (line_reader_next(lines, &line))
        if (parse_entry(&line, &entry))
            vec_push(&user->entries, entry);
        else
            line_reader_error(lines, "expected SWITCH LID PORT: a switch by GUID (0x...) or LID, a "
                                     "destination's LID, a port number");
    if (lines->status)
        user_routes_release(user);
    return lines->status;
}

void user_routes_release(struct user_routes *user)
{
    vec_release(&user->entries);
}

uint32_t user_route_switch(const struct user_route *entry, const struct network *network)
{
    uint32_t owner = network_owner(network, entry->switch_lid);
    if (!entry->guid)
        return owner != NETWORK_NONE && (owner & NETWORK_SWITCH) ? owner & ~NETWORK_SWITCH
                                                                 : NETWORK_NONE;
    for (uint32_t at = 0; at < network->switches.count; at++)
        if (network->switches.items[at].guid == entry->guid)
            return at;
    return NETWORK_NONE;
}

int user_routes_apply(const struct user_routes *user, const struct network *network,
                      struct routes *routes, struct err *err)
{
    assert(routes->switch_count == network->switches.count);
    char label[NETWORK_LABEL_BYTES];
    for (size_t i = 0; i < user->entries.count; i++) {
        const struct user_route *entry = &user->entries.items[i];
        uint32_t at = user_route_switch(entry, network);
        if (at == NETWORK_NONE)
            continue;
        if (entry->port > network->switches.items[at].port_count)
            return err_set(err, EINVAL, "user route for LID %u: %s has no port %u", entry->lid,
                           network_label(network, NETWORK_SWITCH | at, label), entry->port);
        if (entry->lid < routes->stride)
            routes_row(routes, at)[entry->lid] = entry->port;
        if (entry->lid < routes->stride && routes->explicit_bits)
            bitset_add(routes->explicit_bits, (size_t)at * routes->stride + entry->lid);
    }
    return 0;
}
