/* Whatever the bytes, the reader must neither crash nor accept a fabric that is not sound: links
 * the same from both ends, and the same fabric again after writing and reading. */
#include "base/line_reader.h"
#include "topology/analysis/summary.h"
#include "topology/graph.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_links(const struct topology *topology)
{
    for (uint32_t i = 0; i < topology->ports.count; i++) {
        const struct topology_port *port = &topology->ports.items[i];
        require(port->node < topology->nodes.count);
        if (port->peer == TOPOLOGY_NONE)
            continue;
        require(port->peer < topology->ports.count && port->peer != i);
        require(topology->ports.items[port->peer].peer == i);
        require(topology_port_number(topology, i) != 0);
        require(link_data_rate(port->width, port->speed) > 0);
    }
}

static void check_writing(const struct topology *topology)
{
    struct topology again;
    struct text first = {0}, second = {0};
    topology_init(&again);
    topology_write_ibnetdiscover(topology, &first);
    require(topology_read(&again, from_bytes("written", first.data, first.length, NULL)) == 0);
    topology_write_ibnetdiscover(&again, &second);
    require(first.length == second.length && memcmp(first.data, second.data, first.length) == 0);
    topology_release(&again);
    text_release(&first);
    text_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct topology topology;
    struct err err;
    topology_init(&topology);
    int error = topology_read(&topology, from_bytes("fuzz", (const char *)data, size, &err));
    require(error <= 0 && (error == 0) == (topology.nodes.count > 0));
    if (!error) {
        struct graph graph;
        struct topology_summary summary;
        check_links(&topology);
        check_writing(&topology);
        graph_init(&graph, &topology);
        topology_summarise(&topology, &graph, &summary);
        graph_release(&graph);
    }
    topology_release(&topology);
    return 0;
}
