/* Reads the IP addresses of hosts: a network from which ports get theirs, or a file. */
#include "host/server/read_addresses.h"

#include "base/line_reader.h"
#include "console/names.h"

#include <arpa/inet.h>
#include <errno.h>

/* "A.B.C.D/LENGTH". */
static bool is_network(const char *text, uint32_t *first, uint64_t *count)
{
    char address[INET_ADDRSTRLEN] = {0};
    unsigned length;
    int used = 0;
    struct in_addr parsed;
    if (sscanf(text, "%15[0-9.]/%2u%n", address, &length, &used) != 2 || text[used] || length < 1 ||
        length > 30 || inet_pton(AF_INET, address, &parsed) != 1)
        return false;
    *count = UINT64_C(1) << (32 - length);
    *first = ntohl(parsed.s_addr) & (uint32_t) ~(*count - 1);
    return true;
}

/* The first address names the network and the last one all its hosts: no port has them. */
static int number_ports(struct addresses *addresses, const struct topology *topology,
                        const char *text, uint32_t first, uint64_t count, struct err *err)
{
    uint64_t next = 1;
    for (size_t i = 0; i < topology->nodes.count; i++) {
        const struct topology_node *node = &topology->nodes.items[i];
        for (unsigned port = 1; node->kind == NODE_ADAPTER && port <= node->port_count; port++) {
            if (next >= count - 1)
                return err_set(err, ENOSPC, "--ip %s: the network has more ports than addresses",
                               text);
            addresses_add(addresses, node->first_port + port, first + (uint32_t)next++);
        }
    }
    return 0;
}

/* NODE[:PORT] ADDRESS */
static int read_line(struct cursor *cursor, const struct topology *topology,
                     struct addresses *addresses)
{
    struct named_place place;
    struct word name, address;
    struct in_addr parsed;
    if (cursor_take(cursor, "a node", &name) || cursor_take(cursor, "an IP address", &address) ||
        cursor_take_end(cursor))
        return cursor->status;
    if (bind_place(&name, topology, cursor, 1, &place))
        return cursor->status;
    const struct topology_node *node = &topology->nodes.items[place.node];
    uint64_t port = place.count ? place.numbers[0] : 1;
    if (node->kind != NODE_ADAPTER || port < 1 || port > node->port_count)
        return word_error(cursor, &name, "'%s' is not a port of an adapter", name.text);
    if (inet_pton(AF_INET, address.text, &parsed) != 1 || parsed.s_addr == 0)
        return word_error(cursor, &address, "'%s' is not an IPv4 address", address.text);
    if (!addresses_add(addresses, node->first_port + (uint32_t)port, ntohl(parsed.s_addr)))
        return word_error(cursor, &address, "the port or the address was named before");
    return 0;
}

int addresses_read(struct addresses *addresses, const struct topology *topology, const char *text,
                   struct err *err)
{
    uint32_t first;
    uint64_t count;
    struct cursor cursor;
    if (is_network(text, &first, &count))
        return number_ports(addresses, topology, text, first, count, err);
    struct line_reader *reader = from_file(text, err);
    while (line_reader_next(reader, &cursor))
        reader->status = read_line(&cursor, topology, addresses);
    return reader->status;
}
