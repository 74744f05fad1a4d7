#include "host/files/port_key_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void port_keys_print(const struct sm *sm, struct text *out)
{
    const struct subnet *subnet = sm_subnet(sm);
    for (uint32_t port = 0; port < subnet->ports.count; port++)
        if (subnet->ports.items[port].guid && subnet_is_end_port(subnet, port))
            text_printf(out, "0x%016" PRIx64 " 0x%016" PRIx64 "\n", subnet->ports.items[port].guid,
                        sm_port_key(sm, port));
}

void neighbours_print(const struct sm *sm, struct text *out)
{
    const struct sm_neighbour *neighbours;
    size_t count = sm_neighbours(sm, &neighbours);
    for (size_t i = 0; i < count; i++)
        text_printf(out, "0x%016" PRIx64 ":%u 0x%016" PRIx64 ":%u\n", neighbours[i].guid,
                    neighbours[i].number, neighbours[i].peer_guid, neighbours[i].peer_number);
}

void neighbours_read(struct sm *sm, const char *content)
{
    for (const char *line = content; line; line = strchr(line, '\n')) {
        struct sm_neighbour neighbour;
        line += *line == '\n';
        if (sscanf(line, "%" SCNx64 ":%" SCNu8 " %" SCNx64 ":%" SCNu8, &neighbour.guid,
                   &neighbour.number, &neighbour.peer_guid, &neighbour.peer_number) == 4)
            sm_restore_neighbour(sm, &neighbour);
    }
}
