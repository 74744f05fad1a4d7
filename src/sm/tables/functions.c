/* Reads and writes virtual functions of vSwitches (wire/vswitch.h, CLUSTER 2015).
 *
 * One Get(VirtualFunction) reads a function, one Set writes its wanted settings
 * (subnet/functions.h). A function that comes up has the settings of its physical function (PF), so
 * nothing else is read or written. vswitch decides which function has which address. */
#include "sm/tables/functions.h"
#include "sm/discovery/discovery.h"
#include "sm/internal.h"
#include "sm/mastership/standby_copy.h"
#include "sm/reconfigure.h"
#include "sm/tables/partitions.h"
#include "sm/tables/program.h"
#include "sm/tables/quiesce.h"
#include "sm/transactions.h"

#include "vswitch/model/addresses.h"

static struct subnet_node *vswitch_of(struct sm *sm, uint32_t vf_port)
{
    return node_at(sm, port_at(sm, vf_port)->node);
}

/* ---- reading ---- */

static void learn_function(struct sm *sm, uint32_t vf_port, const uint8_t *data)
{
    if (!functions_update_known(&sm->subnet, vf_port, data))
        sm_log_at(sm, SM_EVENT_ERROR, vf_port,
                  "two nodes share the GUID 0x%016llx: the second is ignored",
                  (unsigned long long)wire_get(data, VIRTUAL_FUNCTION_NODE_GUID));
}

void functions_read(struct sm *sm, const struct request *request)
{
    uint32_t vf_port = request->about.port;
    if (!functions_at(&sm->subnet, vf_port)->held) { /* else a newer setting is being written */
        learn_function(sm, vf_port, request->answer);
        program_schedule(sm);
    }
    standby_copy_node_read(sm, port_at(sm, vf_port)->node);
}

void functions_prepare(struct sm *sm)
{
    uint32_t vf_port;
    while ((vf_port = addresses_evict_next(&sm->subnet)) != SUBNET_NONE)
        sm_log_at(
            sm, SM_EVENT_WARNING, vf_port,
            "virtual machine 0x%016llx is attached twice: function %u of 0x%016llx is detached",
            (unsigned long long)functions_at(&sm->subnet, vf_port)->guid,
            port_at(sm, vf_port)->number - VSWITCH_PF,
            (unsigned long long)vswitch_of(sm, vf_port)->guid);
    functions_copy_pf_settings(&sm->subnet);
}

/* ---- inherited tables ---- */

static void learn_tables(struct sm *sm, uint32_t from, uint32_t to)
{
    struct blocks *blocks = &sm->subnet.blocks;
    if (blocks_are_writing(blocks, to, BLOCK_KINDS))
        return;
    for (uint32_t row = blocks_next_of_port(blocks, from, BLOCKS_NONE); row != BLOCKS_NONE;
         row = blocks_next_of_port(blocks, from, row)) {
        const struct block *block = &blocks->rows.items[row];
        const uint8_t *actual = blocks_content(blocks, block->actual);
        if (actual && (block->kind == BLOCK_SL2VL || block->kind == BLOCK_ARBITRATION))
            blocks_set_known(blocks, to, block->kind, block->part, actual);
    }
}

/* A function that comes up has the SL to VL and arbitration tables of its PF, and its VF port those
 * of the PF's VF port. Partition tables are read (partitions.c). */
static void inherit_tables(struct sm *sm, uint32_t vf_port, uint32_t holds)
{
    uint32_t pf = subnet_pf_of(&sm->subnet, port_at(sm, vf_port)->node);
    uint32_t own = vswitch_of(sm, vf_port)->first_port + VSWITCH_PF;
    uint32_t port = port_at(sm, vf_port)->peer;
    blocks_forget(&sm->subnet.blocks, port);
    blocks_forget(&sm->subnet.blocks, vf_port);
    bool held = quiesce_is_on(sm) || holds != quiesce_count(sm);
    if (pf == SUBNET_NONE || held || !blocks_port_is_settled(&sm->subnet.blocks, pf) ||
        !blocks_port_is_settled(&sm->subnet.blocks, own))
        return;
    learn_tables(sm, pf, port);
    learn_tables(sm, own, vf_port);
}

/* ---- writing ---- */

static request_outcome function_ended, function_set, function_refused, function_unanswered;
static const struct request_kind set_function = {
    .attribute = ATTRIBUTE_VIRTUAL_FUNCTION,
    .writes = true,
    .ended = function_ended,
    .answered = function_set,
    .refused = function_refused,
    .unanswered = function_unanswered,
    .loses_contact = true,
};

void functions_program(struct sm *sm, uint32_t vf_port)
{
    assert(subnet_is_vf_port(&sm->subnet, vf_port));
    const struct subnet_port *there = port_at(sm, vf_port);
    struct virtual_function *function = functions_at(&sm->subnet, vf_port);
    struct function_setting wanted;
    uint8_t data[SMP_DATA_BYTES] = {0};
    if (function->writing || !functions_differ(&sm->subnet, vf_port, &wanted))
        return;
    bool may = sm_state(sm) == SM_MASTER && there->known && !sm_is_avoiding_port(sm, vf_port) &&
               node_at(sm, there->node)->present && functions_pf_is_ready(&sm->subnet, there->node);
    if (!may && !function->held)
        return;
    wire_set(data, VIRTUAL_FUNCTION_LID, wanted.lid);
    wire_set(data, VIRTUAL_FUNCTION_LMC, wanted.lmc);
    wire_set(data, VIRTUAL_FUNCTION_ATTACHED, wanted.attached);
    wire_set(data, VIRTUAL_FUNCTION_PORT_GUID, wanted.guid);
    memcpy(wire_bytes(data, VIRTUAL_FUNCTION_NAME), wanted.name, VSWITCH_NAME_BYTES);
    function->writing = true;
    sm->subnet.functions.writing++;
    sm_send(sm, &set_function, (union request_subject){.function = {vf_port, quiesce_count(sm)}},
            vswitch_of(sm, vf_port)->first_port, there->number - VSWITCH_PF, data);
}

void functions_program_all(struct sm *sm, uint32_t vswitch)
{
    for (unsigned i = VSWITCH_PF + 1; i <= node_at(sm, vswitch)->port_count; i++)
        functions_program(sm, node_at(sm, vswitch)->first_port + i);
}

void functions_program_order(struct sm *sm, uint32_t vf_port)
{
    switch (functions_at(&sm->subnet, vf_port)->order) {
    case ORDER_SETTING: functions_program(sm, vf_port); break;
    case ORDER_KEYS: partitions_prepare(sm, vf_port); break;
    case ORDER_NONE: /* the order was cancelled: read the actual state */
        if (subnet_is_present(&sm->subnet, vf_port))
            discovery_read_port(sm, vf_port);
        break;
    }
}

static void function_ended(struct sm *sm, const struct request *request)
{
    struct virtual_function *function = functions_at(&sm->subnet, request->about.function.vf_port);
    assert(function->writing && sm->subnet.functions.writing);
    sm->subnet.functions.writing--;
    function->writing = false;
}

static void function_refused(struct sm *sm, const struct request *request)
{
    uint32_t vf_port = request->about.function.vf_port;
    struct virtual_function *function = functions_at(&sm->subnet, vf_port);
    functions_end_order(function, FUNCTION_REFUSED);
    if (!function->held)
        discovery_avoid_port(sm, vf_port, true);
    sm_log_at(sm, SM_EVENT_WARNING, vf_port,
              "function %u of 0x%016llx refuses its settings (status 0x%x)",
              port_at(sm, vf_port)->number - VSWITCH_PF,
              (unsigned long long)vswitch_of(sm, vf_port)->guid, request->status);
}

static bool function_is_up(struct sm *sm, uint32_t vf_port)
{
    uint32_t port = port_at(sm, vf_port)->peer;
    return port != SUBNET_NONE && wire_get(port_at(sm, port)->info, PORT_INFO_LID) != 0;
}

static void function_set(struct sm *sm, const struct request *request)
{
    uint32_t vf_port = request->about.function.vf_port;
    struct virtual_function *function = functions_at(&sm->subnet, vf_port);
    bool was_up = function_is_up(sm, vf_port), planned = !reconfigure_is_outdated(sm);
    functions_end_order(function, FUNCTION_DONE);
    learn_function(sm, vf_port, request->answer);
    /* The routes in force follow when the addresses move: sm_move_addresses(). */
    if (function->held && planned)
        reconfigure_accept_topology(sm);
    if (was_up || !function_is_up(sm, vf_port))
        return;
    inherit_tables(sm, vf_port, request->about.function.holds);
    partitions_came_up(sm, vf_port);
    sm->subnet.functions.activations++;
}

static void function_unanswered(struct sm *sm, const struct request *request)
{
    functions_end_order(functions_at(&sm->subnet, request->about.function.vf_port), FUNCTION_LOST);
}

void functions_end_keys(struct sm *sm, uint32_t port, enum function_outcome outcome)
{
    struct virtual_function *function = functions_of_port(&sm->subnet, port);
    if (function && function->order == ORDER_KEYS)
        functions_end_order(function, outcome);
}

static void functions_requests_dropped(struct sm *sm)
{
    struct virtual_functions *functions = &sm->subnet.functions;
    functions->writing = 0;
    for (size_t i = 0; i < functions->rows.count; i++) {
        struct virtual_function *function = &functions->rows.items[i];
        function->writing = false;
        if (function->order == ORDER_SETTING && function->outcome == FUNCTION_PENDING)
            functions_end_order(function, FUNCTION_LOST);
    }
}

bool functions_is_held(struct sm *sm, uint32_t port)
{
    const struct virtual_function *function =
        sm->subnet.functions.rows.count ? functions_of_port(&sm->subnet, port) : NULL;
    return function && function->held;
}

SM_PART_OF_SUBNET(function_writer, .requests_dropped = functions_requests_dropped);
