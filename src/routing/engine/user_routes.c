#include "routing/engine/user_routes.h"

#include "base/file.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT = 64 << 20 };

/* One number; false at the end of the line or at anything else. */
static bool scan_value(const char **at, uint64_t top, uint64_t *value, bool *hex)
{
    char *end;
    while (**at == ' ' || **at == '\t')
        ++*at;
    if (!isdigit((unsigned char)**at))
        return false;
    *hex = (*at)[0] == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X');
    errno = 0;
    *value = strtoull(*at, &end, *hex ? 16 : 10);
    if (errno || *value > top || end == *at ||
        (*end && *end != ' ' && *end != '\t' && *end != '\r' && *end != '#' && *end != '\n'))
        return false;
    *at = end;
    return true;
}

static bool parse_entry(const char *line, struct user_route *entry)
{
    uint64_t node, lid, port;
    bool by_guid, hex;
    if (!scan_value(&line, UINT64_MAX, &node, &by_guid) || node == 0 ||
        (!by_guid && node > NETWORK_TOP_LID) || !scan_value(&line, NETWORK_TOP_LID, &lid, &hex) ||
        lid == 0 || !scan_value(&line, NETWORK_TOP_PORT, &port, &hex))
        return false;
    line += strspn(line, " \t\r");
    if (*line && *line != '#' && *line != '\n')
        return false;
    *entry = (struct user_route){
        .guid = by_guid ? node : 0,
        .switch_lid = by_guid ? 0 : (uint16_t)node,
        .lid = (uint16_t)lid,
        .port = (uint8_t)port,
    };
    return true;
}

int user_routes_read_text(struct user_routes *user, const char *name, const char *text,
                          struct err *err)
{
    *user = (struct user_routes){0};
    for (unsigned number = 1; *text; number++) {
        const char *line = text + strspn(text, " \t\r");
        const char *end = strchrnul(text, '\n');
        text = *end ? end + 1 : end;
        if (line >= end || *line == '#')
            continue;
        struct user_route entry;
        if (!parse_entry(line, &entry)) {
            user_routes_release(user);
            return err_at(err, EINVAL, name, number,
                          "expected SWITCH LID PORT: a switch by GUID (0x...) or LID, a "
                          "destination's LID, a port number");
        }
        vec_push(&user->entries, entry);
    }
    return 0;
}

int user_routes_read(struct user_routes *user, const char *path, struct err *err)
{
    struct text text;
    int rc = file_read(path, FILE_LIMIT, &text, err);
    *user = (struct user_routes){0};
    if (!rc)
        rc = user_routes_read_text(user, path, text.data, err);
    text_release(&text);
    return rc;
}

void user_routes_release(struct user_routes *user)
{
    vec_release(&user->entries);
}

uint32_t user_route_switch(const struct user_route *entry, const struct network *network)
{
    if (!entry->guid) {
        uint32_t owner = entry->switch_lid <= network->top_lid ? network->owner[entry->switch_lid]
                                                               : NETWORK_NONE;
        return owner != NETWORK_NONE && (owner & NETWORK_SWITCH) ? owner & ~NETWORK_SWITCH
                                                                 : NETWORK_NONE;
    }
    for (uint32_t at = 0; at < network->switches.count; at++)
        if (network->switches.items[at].guid == entry->guid)
            return at;
    return NETWORK_NONE;
}

int user_routes_apply(const struct user_routes *user, const struct network *network,
                      struct routes *routes, struct err *err)
{
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
        if (entry->lid < routes->stride && routes->explicit_bits) {
            size_t bit = (size_t)at * routes->stride + entry->lid;
            routes->explicit_bits[bit / 64] |= UINT64_C(1) << (bit % 64);
        }
    }
    return 0;
}
