#include "routing/model/lanes.h"

void lanes_init(struct lanes *lanes, const struct network *network)
{
    *lanes = (struct lanes){
        .network = network,
        .count = 1,
        .sl_rows = mem_zalloc(network->terminals.count + network->switches.count + 1,
                              sizeof *lanes->sl_rows),
        .vl_tables = mem_zalloc(network->switches.count + 1, sizeof *lanes->vl_tables),
    };
}

void lanes_release(struct lanes *lanes)
{
    if (!lanes->network)
        return;
    size_t sources = lanes->network->terminals.count + lanes->network->switches.count;
    for (size_t i = 0; i < sources; i++)
        mem_free(lanes->sl_rows[i]);
    for (size_t i = 0; i < lanes->network->switches.count; i++)
        mem_free(lanes->vl_tables[i]);
    mem_free(lanes->sl_rows);
    mem_free(lanes->vl_tables);
    *lanes = (struct lanes){0};
}

size_t lanes_source_index(const struct lanes *lanes, uint32_t end_point)
{
    return end_point & NETWORK_SWITCH
               ? lanes->network->terminals.count + (end_point & ~NETWORK_SWITCH)
               : end_point;
}

uint8_t lanes_sl(const struct lanes *lanes, uint32_t end_point, uint16_t dlid)
{
    const uint8_t *row = lanes->sl_rows[lanes_source_index(lanes, end_point)];
    return row && dlid <= lanes->network->top_lid ? row[dlid] : 0;
}

uint8_t lanes_vl(const struct lanes *lanes, uint32_t at, uint8_t in, uint8_t out, uint8_t sl)
{
    const uint8_t *table = lanes->vl_tables[at];
    size_t ports = lanes->network->switches.items[at].port_count + 1u;
    if (in >= ports || out >= ports)
        return LANES_DISCARD;
    return table ? table[(in * ports + out) * LANES_SLS + sl] : sl;
}
