/* Records of tables: forwarding, partitions, lanes (15.2.5.5 to 15.2.5.9, 15.2.5.11, 15.2.5.12).
 *
 * Blocks are told that agents have confirmed. Of a multicast table those up to the last that has
 * a group are told. SL-to-VL and arbitration tables are written only where lanes or levels of
 * service are wanted: those that were left alone are told as what was set in them, which is nothing
 * (zeros), as OpenSM does. */
#include "sa/internal.h"

enum { BLOCK_BIT = 1 };

/* The next switch among them. */
static const struct subnet_node *next_switch(const struct sa *sa, const struct query *query,
                                             unsigned named, unsigned *lid)
{
    const struct subnet *subnet = sa->view.subnet;
    for (uint32_t port; (port = sa_next_visible_port(sa, query, named, lid)) != SUBNET_NONE;) {
        const struct subnet_node *node = &subnet->nodes.items[subnet->ports.items[port].node];
        if (node->tables)
            return node;
    }
    return NULL;
}

uint16_t linear_table_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    const uint8_t *wanted = query_data(query);
    unsigned named = (unsigned)wire_get(wanted, LINEAR_FORWARDING_TABLE_RECORD_LID), lid = 0;
    unsigned only = (unsigned)wire_get(wanted, LINEAR_FORWARDING_TABLE_RECORD_BLOCK);
    const struct subnet_node *node;
    while ((node = next_switch(sa, query, named, &lid)) != NULL) {
        unsigned top = (unsigned)wire_get(node->switch_info, SWITCH_INFO_LINEAR_FDB_TOP);
        for (unsigned block = 0; block <= top / LFT_BLOCK && block < LFT_BLOCKS; block++) {
            if ((query_has(query, BLOCK_BIT) && block != only) || node->tables->random ||
                !subnet_block_known(node->tables, block))
                continue;
            uint8_t *record = answer_add(answer);
            wire_set(record, LINEAR_FORWARDING_TABLE_RECORD_LID,
                     sa->view.subnet->ports.items[node->first_port].lid);
            wire_set(record, LINEAR_FORWARDING_TABLE_RECORD_BLOCK, block);
            memcpy(record + LINEAR_FORWARDING_TABLE_RECORD_AT_LINEAR_FORWARDING_TABLE,
                   node->tables->actual + (size_t)block * LFT_BLOCK, LFT_BLOCK);
        }
    }
    return STATUS_OK;
}

uint16_t random_table_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    enum { ENTRIES = 16 };
    const uint8_t *wanted = query_data(query);
    unsigned named = (unsigned)wire_get(wanted, RANDOM_FORWARDING_TABLE_RECORD_LID), lid = 0;
    unsigned only = (unsigned)wire_get(wanted, RANDOM_FORWARDING_TABLE_RECORD_BLOCK);
    const struct subnet_node *node;
    while ((node = next_switch(sa, query, named, &lid)) != NULL) {
        unsigned capacity = (unsigned)wire_get(node->switch_info, SWITCH_INFO_RANDOM_FDB_CAP);
        for (unsigned block = 0; node->tables->random && block * ENTRIES < capacity; block++) {
            if (query_has(query, BLOCK_BIT) && block != only)
                continue;
            uint8_t *record = answer_add(answer);
            wire_set(record, RANDOM_FORWARDING_TABLE_RECORD_LID,
                     sa->view.subnet->ports.items[node->first_port].lid);
            wire_set(record, RANDOM_FORWARDING_TABLE_RECORD_BLOCK, block);
            memcpy(record + RANDOM_FORWARDING_TABLE_RECORD_AT_RANDOM_FORWARDING_TABLE,
                   node->tables->random + (size_t)block * SMP_DATA_BYTES, SMP_DATA_BYTES);
        }
    }
    return STATUS_OK;
}

/* Only for those whom we trust: who is in which partition is nobody else's business. */
static void add_key_blocks(const struct sa *sa, const struct query *query, uint32_t end,
                           uint32_t port, struct answer *answer)
{
    enum { PORT_BIT = 2 };
    const struct subnet_port *ports = sa->view.subnet->ports.items;
    const uint8_t *wanted = query_data(query);
    uint8_t keys[WIRE_BYTES_P_KEY_TABLE] = {0};
    if (query_has(query, PORT_BIT) &&
        wire_get(wanted, P_KEY_TABLE_RECORD_PORT) != ports[port].number)
        return;
    for (unsigned block = 0; access_key_block(sa, port, block, keys); block++) {
        if (query_has(query, BLOCK_BIT) && wire_get(wanted, P_KEY_TABLE_RECORD_BLOCK) != block)
            continue;
        uint8_t *record = answer_add(answer);
        wire_set(record, P_KEY_TABLE_RECORD_LID, ports[end].lid);
        wire_set(record, P_KEY_TABLE_RECORD_BLOCK, block);
        wire_set(record, P_KEY_TABLE_RECORD_PORT, ports[port].number);
        memcpy(record + P_KEY_TABLE_RECORD_AT_P_KEY_TABLE, keys, sizeof keys);
    }
}

uint16_t p_key_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    const struct subnet *subnet = sa->view.subnet;
    unsigned named = (unsigned)wire_get(query_data(query), P_KEY_TABLE_RECORD_LID), lid = 0;
    if (!query_is_trusted(query))
        return STATUS_SA_BAD_REQUEST;
    for (uint32_t end; (end = sa_next_visible_port(sa, query, named, &lid)) != SUBNET_NONE;) {
        const struct subnet_node *node = &subnet->nodes.items[subnet->ports.items[end].node];
        unsigned last = node->kind == SUBNET_SWITCH ? node->port_count : 0;
        for (unsigned number = 0; number <= last; number++)
            add_key_blocks(sa, query, end, end + number, answer);
    }
    return STATUS_OK;
}

/* How many blocks of a switch's multicast table are worth telling. */
static unsigned multicast_blocks(const struct blocks *blocks, uint32_t port)
{
    static const uint8_t nothing[BLOCK_BYTES];
    unsigned count = 0;
    for (uint32_t row = blocks_next_of_port(blocks, port, BLOCKS_NONE); row != BLOCKS_NONE;
         row = blocks_next_of_port(blocks, port, row)) {
        const struct block *block = &blocks->rows.items[row];
        const uint8_t *data = blocks_content(blocks, block->actual);
        unsigned number = block->part & 0x1FF;
        if (block->kind == BLOCK_MULTICAST && data && number >= count &&
            memcmp(data, nothing, sizeof nothing) != 0)
            count = number + 1;
    }
    return count;
}

uint16_t multicast_table_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    enum { POSITION_BIT = 1, MULTICAST_BLOCK_BIT = 3, POSITION_PORTS = 16 };
    const uint8_t *wanted = query_data(query);
    const struct blocks *blocks = &sa->view.subnet->blocks;
    unsigned named = (unsigned)wire_get(wanted, MULTICAST_FORWARDING_TABLE_RECORD_LID), lid = 0;
    unsigned only_block = (unsigned)wire_get(wanted, MULTICAST_FORWARDING_TABLE_RECORD_BLOCK);
    unsigned only = (unsigned)wire_get(wanted, MULTICAST_FORWARDING_TABLE_RECORD_POSITION);
    const struct subnet_node *node;
    while ((node = next_switch(sa, query, named, &lid)) != NULL) {
        unsigned count = multicast_blocks(blocks, node->first_port);
        unsigned positions = node->port_count / POSITION_PORTS + 1u;
        for (unsigned i = 0; i < count * positions; i++) {
            unsigned block = i / positions, position = i % positions;
            const uint8_t *data =
                blocks_actual(blocks, node->first_port, BLOCK_MULTICAST, position << 9 | block);
            if (!data || (query_has(query, POSITION_BIT) && position != only) ||
                (query_has(query, MULTICAST_BLOCK_BIT) && block != only_block))
                continue;
            uint8_t *record = answer_add(answer);
            wire_set(record, MULTICAST_FORWARDING_TABLE_RECORD_LID,
                     sa->view.subnet->ports.items[node->first_port].lid);
            wire_set(record, MULTICAST_FORWARDING_TABLE_RECORD_POSITION, position);
            wire_set(record, MULTICAST_FORWARDING_TABLE_RECORD_BLOCK, block);
            memcpy(record + MULTICAST_FORWARDING_TABLE_RECORD_AT_MULTICAST_FORWARDING_TABLE, data,
                   BLOCK_BYTES);
        }
    }
    return STATUS_OK;
}

/* ---- lanes ---- */

static const struct subnet_node *node_of(const struct sa *sa, uint32_t port)
{
    return &sa->view.subnet->nodes.items[sa->view.subnet->ports.items[port].node];
}

/* The map that this port has confirmed for this input, its own or the one for all. */
static const uint8_t *map_at(const struct sa *sa, uint32_t port, unsigned input)
{
    const struct blocks *blocks = &sa->view.subnet->blocks;
    const uint8_t *own = blocks_actual(blocks, port, BLOCK_SL2VL, input);
    return own ? own : blocks_actual(blocks, port, BLOCK_SL2VL, BLOCK_ALL_INPUTS);
}

static void add_map(const struct sa *sa, uint32_t end, unsigned input, unsigned output,
                    struct answer *answer)
{
    const uint8_t *map = map_at(sa, end + output, input);
    uint8_t *record = answer_add(answer);
    wire_set(record, SL2VL_TABLE_RECORD_LID, sa->view.subnet->ports.items[end].lid);
    wire_set(record, SL2VL_TABLE_RECORD_INPUT_PORT, input);
    wire_set(record, SL2VL_TABLE_RECORD_OUTPUT_PORT, output);
    if (map)
        memcpy(record + SL2VL_TABLE_RECORD_AT_SL2VL_TABLE, map, WIRE_BYTES_SL2VL_TABLE);
}

uint16_t sl2vl_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    enum { INPUT_BIT = 1, OUTPUT_BIT = 2 };
    const uint8_t *wanted = query_data(query);
    unsigned named = (unsigned)wire_get(wanted, SL2VL_TABLE_RECORD_LID), lid = 0;
    unsigned only_input = (unsigned)wire_get(wanted, SL2VL_TABLE_RECORD_INPUT_PORT);
    unsigned only_output = (unsigned)wire_get(wanted, SL2VL_TABLE_RECORD_OUTPUT_PORT);
    for (uint32_t end; (end = sa_next_visible_port(sa, query, named, &lid)) != SUBNET_NONE;) {
        const struct subnet_node *node = node_of(sa, end);
        unsigned last = node->kind == SUBNET_SWITCH ? node->port_count : 0; /* adapters have one */
        for (unsigned output = 0; output <= last; output++)
            for (unsigned input = 0; input <= last; input++)
                if ((!query_has(query, INPUT_BIT) || input == only_input) &&
                    (!query_has(query, OUTPUT_BIT) || output == only_output || !last))
                    add_map(sa, end, input, output, answer);
    }
    return STATUS_OK;
}

static void add_arbitration(const struct sa *sa, uint32_t end, uint32_t port, unsigned block,
                            struct answer *answer)
{
    const struct subnet *subnet = sa->view.subnet;
    const uint8_t *part = blocks_actual(&subnet->blocks, port, BLOCK_ARBITRATION, block);
    uint8_t *record = answer_add(answer);
    wire_set(record, VL_ARBITRATION_TABLE_RECORD_LID, subnet->ports.items[end].lid);
    wire_set(record, VL_ARBITRATION_TABLE_RECORD_OUTPUT_PORT, subnet->ports.items[port].number);
    wire_set(record, VL_ARBITRATION_TABLE_RECORD_BLOCK, block);
    if (part)
        memcpy(record + VL_ARBITRATION_TABLE_RECORD_AT_VL_ARBITRATION_TABLE, part,
               WIRE_BYTES_VL_ARBITRATION_TABLE);
}

uint16_t vl_arbitration_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    enum { OUTPUT_BIT = 1, TABLE_BIT = 2, BLOCKS = 4 };
    const uint8_t *wanted = query_data(query);
    unsigned named = (unsigned)wire_get(wanted, VL_ARBITRATION_TABLE_RECORD_LID), lid = 0;
    unsigned only = (unsigned)wire_get(wanted, VL_ARBITRATION_TABLE_RECORD_OUTPUT_PORT);
    unsigned only_block = (unsigned)wire_get(wanted, VL_ARBITRATION_TABLE_RECORD_BLOCK);
    for (uint32_t end; (end = sa_next_visible_port(sa, query, named, &lid)) != SUBNET_NONE;) {
        const struct subnet_port *port = &sa->view.subnet->ports.items[end];
        const struct subnet_node *node = node_of(sa, end);
        unsigned last = node->kind == SUBNET_SWITCH ? node->port_count : port->number;
        for (unsigned number = port->number; number <= last; number++)
            for (unsigned block = 1; block <= BLOCKS; block++)
                /* An adapter's LID says which port, whatever else is said. */
                if ((!query_has(query, OUTPUT_BIT) || number == only || !node->tables) &&
                    (!query_has(query, TABLE_BIT) || block == only_block))
                    add_arbitration(sa, end, node->first_port + number, block, answer);
    }
    return STATUS_OK;
}
