#include "agents.h"

#include "fabric/internal.h"

#include <string.h>

void agents_map_all_sls_to_vl_0(struct fabric *fabric)
{
    for (uint32_t i = 0; i < fabric->node_count; i++) {
        struct sma *sma = &fabric->nodes[i].sma;
        size_t ports = sma->port_count + 1u;
        size_t maps = fabric->nodes[i].is_switch ? ports * ports : ports;
        memset(sma->sl2vl, 0, maps * sizeof *sma->sl2vl);
        if (fabric->data)
            data_port_refresh_node(fabric, i);
    }
}

unsigned agent_vl(const struct fabric *fabric, uint32_t node, unsigned input, unsigned output,
                  unsigned sl)
{
    return sma_map_sl(&fabric->nodes[node].sma, input, output, sl);
}
