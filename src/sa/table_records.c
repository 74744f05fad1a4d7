/* Records of tables: forwarding, partitions, lanes (15.2.5.5 to 15.2.5.9, 15.2.5.11, 15.2.5.12).
 *
 * Of forwarding tables the blocks are told that switches have confirmed. The manager writes no
 * multicast forwarding, SL-to-VL and arbitration tables: there are no records of the former, and
 * the latter two are told as what it set in them, which is nothing (zeros). */
#include "sa/internal.h"

enum { BLOCK_BIT = 1 };

/* The next end port that the query can mean; *lid begins with 0. */
static uint32_t next_end(const struct sa *sa, const struct query *query, unsigned named,
                         unsigned *lid)
{
    if (!query_has(query, 0))
        return sa_next_end_port(sa, lid);
    return (*lid)++ ? SUBNET_NONE : sa_port_at(sa, named);
}

/* The next switch among them. */
static const struct subnet_node *next_switch(const struct sa *sa, const struct query *query,
                                             unsigned named, unsigned *lid)
{
    const struct subnet *subnet = sa->view.subnet;
    for (uint32_t port; (port = next_end(sa, query, named, lid)) != SUBNET_NONE;) {
        const struct subnet_node *node = &subnet->nodes.items[subnet->ports.items[port].node];
        if (node->tables &&
            access_common_key(sa, sa_requester_guid(sa, query), subnet->ports.items[port].guid))
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
uint16_t p_key_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    enum { PORT_BIT = 2 };
    const struct subnet *subnet = sa->view.subnet;
    const uint8_t *wanted = query_data(query);
    unsigned named = (unsigned)wire_get(wanted, P_KEY_TABLE_RECORD_LID), lid = 0;
    if (!query_is_trusted(query))
        return STATUS_SA_BAD_REQUEST;
    for (uint32_t end; (end = next_end(sa, query, named, &lid)) != SUBNET_NONE;) {
        const struct subnet_port *port = &subnet->ports.items[end];
        uint8_t keys[WIRE_BYTES_P_KEY_TABLE] = {0};
        for (unsigned block = 0; access_key_block(sa, end, block, keys); block++) {
            if ((query_has(query, BLOCK_BIT) &&
                 wire_get(wanted, P_KEY_TABLE_RECORD_BLOCK) != block) ||
                (query_has(query, PORT_BIT) &&
                 wire_get(wanted, P_KEY_TABLE_RECORD_PORT) != port->number))
                continue;
            uint8_t *record = answer_add(answer);
            wire_set(record, P_KEY_TABLE_RECORD_LID, port->lid);
            wire_set(record, P_KEY_TABLE_RECORD_BLOCK, block);
            wire_set(record, P_KEY_TABLE_RECORD_PORT, port->number);
            memcpy(record + P_KEY_TABLE_RECORD_AT_P_KEY_TABLE, keys, sizeof keys);
        }
    }
    return STATUS_OK;
}

/* None are written. */
uint16_t multicast_table_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    (void)sa;
    (void)query;
    (void)answer;
    return STATUS_OK;
}

/* ---- lanes ---- */

static const struct subnet_node *node_of(const struct sa *sa, uint32_t port)
{
    return &sa->view.subnet->nodes.items[sa->view.subnet->ports.items[port].node];
}

uint16_t sl2vl_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    enum { INPUT_BIT = 1, OUTPUT_BIT = 2 };
    const uint8_t *wanted = query_data(query);
    unsigned named = (unsigned)wire_get(wanted, SL2VL_TABLE_RECORD_LID), lid = 0;
    unsigned only_input = (unsigned)wire_get(wanted, SL2VL_TABLE_RECORD_INPUT_PORT);
    unsigned only_output = (unsigned)wire_get(wanted, SL2VL_TABLE_RECORD_OUTPUT_PORT);
    for (uint32_t end; (end = next_end(sa, query, named, &lid)) != SUBNET_NONE;) {
        const struct subnet_node *node = node_of(sa, end);
        unsigned last = node->kind == SUBNET_SWITCH ? node->port_count : 0; /* adapters have one */
        for (unsigned output = 0; output <= last; output++)
            for (unsigned input = 0; input <= last; input++) {
                if ((query_has(query, INPUT_BIT) && input != only_input) ||
                    (query_has(query, OUTPUT_BIT) && output != only_output && last))
                    continue;
                uint8_t *record = answer_add(answer);
                wire_set(record, SL2VL_TABLE_RECORD_LID, sa->view.subnet->ports.items[end].lid);
                wire_set(record, SL2VL_TABLE_RECORD_INPUT_PORT, input);
                wire_set(record, SL2VL_TABLE_RECORD_OUTPUT_PORT, output);
            }
    }
    return STATUS_OK;
}

uint16_t vl_arbitration_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    enum { OUTPUT_BIT = 1, TABLE_BIT = 2, BLOCKS = 4 };
    const uint8_t *wanted = query_data(query);
    unsigned named = (unsigned)wire_get(wanted, VL_ARBITRATION_TABLE_RECORD_LID), lid = 0;
    unsigned only = (unsigned)wire_get(wanted, VL_ARBITRATION_TABLE_RECORD_OUTPUT_PORT);
    unsigned only_block = (unsigned)wire_get(wanted, VL_ARBITRATION_TABLE_RECORD_BLOCK);
    for (uint32_t end; (end = next_end(sa, query, named, &lid)) != SUBNET_NONE;) {
        const struct subnet_port *port = &sa->view.subnet->ports.items[end];
        const struct subnet_node *node = node_of(sa, end);
        unsigned last = node->kind == SUBNET_SWITCH ? node->port_count : port->number;
        for (unsigned number = port->number; number <= last; number++)
            for (unsigned block = 1; block <= BLOCKS; block++) {
                /* An adapter's LID says which port, whatever else is said. */
                if ((query_has(query, OUTPUT_BIT) && number != only && node->tables) ||
                    (query_has(query, TABLE_BIT) && block != only_block))
                    continue;
                uint8_t *record = answer_add(answer);
                wire_set(record, VL_ARBITRATION_TABLE_RECORD_LID, port->lid);
                wire_set(record, VL_ARBITRATION_TABLE_RECORD_OUTPUT_PORT, number);
                wire_set(record, VL_ARBITRATION_TABLE_RECORD_BLOCK, block);
            }
    }
    return STATUS_OK;
}
