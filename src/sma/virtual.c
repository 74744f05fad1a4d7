/* Virtual switches: an adapter that looks like a switch with adapters behind it (wire/vswitch.h,
 * the vSwitch model of "Towards the InfiniBand SR-IOV vSwitch Architecture").
 *
 * The switch and its functions are separate nodes with an agent each, but one device: the agent of
 * the switch accesses those of the functions. The LIDs of a function are stored only in its own
 * PortInfo; the switch computes its LFT from there, as a short sorted list of ranges, whenever one
 * changes. The physical function shares its LID with port 0 of the switch; a Set of one sets both.
 *
 * A virtual function has a link if and only if it has a LID. The physical layer gets an output for
 * each change and raises or drops the link. */
#include "base/mem.h"
#include "sma/internal.h"
#include "wire/vswitch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct range {
    uint16_t first, last;
    uint8_t port;
};

struct sma_device {
    struct sma **functions; /* by port of the switch; NULL where there is none */
    uint32_t changed[8];    /* bit per port: its link must be raised or dropped */
    struct range *ranges;   /* LIDs of functions, ascending */
    unsigned range_count;
    uint8_t *table; /* the LFT, computed on demand; NULL if out of date */
};

void sma_device_init(struct sma *sma)
{
    sma->device = mem_zalloc(1, sizeof *sma->device);
    sma->device->functions = mem_zalloc(sma->port_count + 1u, sizeof(struct sma *));
    sma->device->ranges = mem_zalloc(sma->port_count + 1u, sizeof(struct range));
    if (!sma->options.linear_entries)
        sma->options.linear_entries = LID_UNICAST_LAST + 1;
}

void sma_device_release(struct sma *sma)
{
    if (!sma->device)
        return;
    mem_free(sma->device->functions);
    mem_free(sma->device->ranges);
    mem_free(sma->device->table);
    mem_free(sma->device);
}

/* A topology may connect an adapter to two virtual switches; it is a function of only one. */
static struct sma *function_at(const struct sma *vswitch, unsigned port)
{
    struct sma *function =
        port >= VSWITCH_PF && port <= vswitch->port_count ? vswitch->device->functions[port] : NULL;
    return function && function->host == vswitch && function->host_port == port ? function : NULL;
}

struct sma *sma_physical_function(const struct sma *vswitch)
{
    return vswitch->device ? function_at(vswitch, VSWITCH_PF) : NULL;
}

static struct sma_port *function_port(const struct sma *function)
{
    return &function->ports[function->own_port];
}

static unsigned function_lid(const struct sma *function)
{
    return (unsigned)wire_get(function_port(function)->info, PORT_INFO_LID);
}

static struct range lid_range(unsigned lid, unsigned lmc, unsigned port)
{
    unsigned first = lid >> lmc << lmc;
    return (struct range){(uint16_t)first, (uint16_t)(first + (1u << lmc) - 1), (uint8_t)port};
}

static struct range function_lids(const struct sma *function)
{
    return lid_range(function_lid(function),
                     (unsigned)wire_get(function_port(function)->info, PORT_INFO_LMC),
                     function->host_port);
}

/* ---- the forwarding table ---- */

static int compare_ranges(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->port - y->port;
}

static void refresh_table(struct sma *vswitch)
{
    struct sma_device *device = vswitch->device;
    mem_free(device->table);
    device->table = NULL;
    assert(device->range_count <= vswitch->port_count + 1u);
    device->range_count = 0;
    for (unsigned port = VSWITCH_PF; port <= vswitch->port_count; port++)
        if (function_at(vswitch, port) && function_lid(function_at(vswitch, port)))
            device->ranges[device->range_count++] = function_lids(function_at(vswitch, port));
    if (device->range_count)
        qsort(device->ranges, device->range_count, sizeof *device->ranges, compare_ranges);
}

unsigned sma_device_route(const struct sma *sma, unsigned dlid)
{
    const struct sma_device *device = sma->device;
    size_t behind; /* the number of ranges that begin at or before dlid */
    lower_bound(behind, device->range_count, device->ranges[behind].first <= dlid);
    return behind && dlid <= device->ranges[behind - 1].last ? device->ranges[behind - 1].port
                                                             : VSWITCH_UPLINK;
}

const uint8_t *sma_linear_table(const struct sma *sma)
{
    struct sma_device *device = sma->device;
    unsigned entries = sma->options.linear_entries;
    if (!device || device->table)
        return device ? device->table : sma->linear;
    device->table = mem_alloc(entries);
    memset(device->table, VSWITCH_UPLINK, entries);
    device->table[0] = 0xFF;
    for (unsigned i = device->range_count; i-- > 0;)
        for (unsigned lid = device->ranges[i].first; lid <= device->ranges[i].last; lid++)
            if (lid < entries)
                device->table[lid] = (uint8_t)sma_device_route(sma, lid);
    return device->table;
}

/* ---- one device ---- */

void sma_join_device(struct sma *vswitch, unsigned port, struct sma *function, unsigned own_port)
{
    assert(own_port <= function->port_count);
    if (!vswitch->device || port < VSWITCH_PF || port > vswitch->port_count ||
        (function->host && (function->host != vswitch || function->host_port != port)))
        return;
    vswitch->device->functions[port] = function;
    function->host = vswitch;
    function->host_port = (uint8_t)port;
    function->own_port = (uint8_t)own_port;
    function->own_guid = function->ports[own_port].guids[0];
    refresh_table(vswitch);
}

bool sma_needs_link(const struct sma *sma)
{
    bool is_virtual_function = sma->host && sma->host_port != VSWITCH_PF;
    return !is_virtual_function || function_lid(sma) != 0;
}

bool sma_can_share_lid(const struct sma *sma, unsigned lid)
{
    const struct sma *pf = sma_physical_function(sma);
    return !pf || (lid & ((1u << wire_get(function_port(pf)->info, PORT_INFO_LMC)) - 1)) == 0;
}

void sma_share_lid(struct sma *sma, unsigned port)
{
    struct sma *pf = sma_physical_function(sma);
    if (pf)
        wire_set(function_port(pf)->info, PORT_INFO_LID,
                 wire_get(sma->ports[0].info, PORT_INFO_LID));
    if (sma->device)
        refresh_table(sma);
    if (!sma->host || port != sma->own_port || !sma->host->device)
        return;
    if (sma->host_port == VSWITCH_PF)
        wire_set(sma->host->ports[0].info, PORT_INFO_LID, function_lid(sma));
    refresh_table(sma->host);
}

bool sma_is_for_switch(const uint8_t mad[MAD_BYTES])
{
    /* The switch starts the directed part of a route. */
    if (mad_is_directed(mad) && !wire_get(mad, SMP_DIRECTION) &&
        wire_get(mad, SMP_HOP_POINTER) == 0 && wire_get(mad, SMP_HOP_COUNT) != 0)
        return true;
    return mad_is_smp(mad) && sma_handles_smp(mad);
}

bool sma_next_function(struct sma *sma, struct sma_output *output)
{
    for (unsigned word = 0; sma->device && word < 8; word++) {
        if (!sma->device->changed[word])
            continue;
        unsigned port = word * 32 + (unsigned)__builtin_ctz(sma->device->changed[word]);
        sma->device->changed[word] &= sma->device->changed[word] - 1;
        *output = (struct sma_output){.kind = SMA_FUNCTION, .port = port};
        return true;
    }
    return false;
}

/* ---- VirtualFunction ---- */

uint16_t sma_get_virtual_function(struct sma *sma, unsigned port, uint32_t modifier, uint8_t *data)
{
    (void)port;
    const struct sma *function =
        modifier <= VSWITCH_VFS_LIMIT ? function_at(sma, VSWITCH_PF + modifier) : NULL;
    if (!function)
        return STATUS_BAD_VALUE;
    wire_set(data, VIRTUAL_FUNCTION_LID, function_lid(function));
    wire_set(data, VIRTUAL_FUNCTION_LMC, wire_get(function_port(function)->info, PORT_INFO_LMC));
    wire_set(data, VIRTUAL_FUNCTION_ATTACHED, modifier == 0 || function->attached);
    wire_set(data, VIRTUAL_FUNCTION_COUNT, sma->port_count - VSWITCH_PF);
    wire_set(data, VIRTUAL_FUNCTION_PORT_GUID, function_port(function)->guids[0]);
    wire_set(data, VIRTUAL_FUNCTION_NODE_GUID, wire_get(function->node_info, NODE_INFO_NODE_GUID));
    memcpy(wire_bytes(data, VIRTUAL_FUNCTION_NAME), function->vm_name, VSWITCH_NAME_BYTES);
    return STATUS_OK;
}

/* Whether the LIDs are unicast and no other function of the device has them. */
static bool addresses_valid(const struct sma *sma, const struct sma *function, unsigned lid,
                            unsigned lmc)
{
    struct range wanted = lid_range(lid, lmc, 0);
    if (lid == 0)
        return true;
    if (wanted.last > LID_UNICAST_LAST || wanted.first != lid)
        return false;
    for (unsigned port = VSWITCH_PF; port <= sma->port_count; port++) {
        const struct sma *other = function_at(sma, port);
        if (!other || other == function || !function_lid(other))
            continue;
        struct range taken = function_lids(other);
        if (wanted.first <= taken.last && taken.first <= wanted.last)
            return false;
    }
    return true;
}

static void copy_minimum(uint8_t *to, const uint8_t *from, enum wire_field field,
                         enum wire_field limit)
{
    uint64_t value = wire_get(from, field), most = wire_get(to, limit);
    wire_set(to, field, value < most ? value : most);
}

/* Copies VLs, MTU and partitions from another port. */
static void copy_settings(struct sma *to, unsigned to_port, const struct sma *from,
                          unsigned from_port)
{
    struct sma_port *target = &to->ports[to_port];
    const struct sma_port *model = &from->ports[from_port];
    sma_copy_link_settings(target->info, model->info);
    copy_minimum(target->info, model->info, PORT_INFO_NEIGHBOR_MTU, PORT_INFO_MTU_CAP);
    copy_minimum(target->info, model->info, PORT_INFO_OPERATIONAL_VLS, PORT_INFO_VL_CAP);
    if (to->options.vl_arbitration == from->options.vl_arbitration)
        memcpy(target->vl_arbitration, model->vl_arbitration, sizeof target->vl_arbitration);
    unsigned keys =
        to->options.p_keys < from->options.p_keys ? to->options.p_keys : from->options.p_keys;
    memcpy(target->p_keys, model->p_keys, keys * sizeof *target->p_keys);
}

/* A virtual function starts with the settings of its physical function, so that the manager writes
 * only its LID. */
static void copy_pf_settings(struct sma *function, const struct sma *pf)
{
    static const enum wire_field fields[] = {
        PORT_INFO_M_KEY,
        PORT_INFO_GID_PREFIX,
        PORT_INFO_MASTER_SM_LID,
        PORT_INFO_M_KEY_LEASE_PERIOD,
        PORT_INFO_M_KEY_PROTECT_BITS,
        PORT_INFO_MASTER_SM_SL,
        PORT_INFO_MULTICAST_P_KEY_TRAP_SUPPRESSION,
        PORT_INFO_SUBNET_TIME_OUT,
    };
    struct sma_port *port = function_port(function);
    sma_copy_fields(port->info, function_port(pf)->info, fields, sizeof fields / sizeof fields[0]);
    port->lease_end = TIME_NEVER;
    copy_settings(function, function->own_port, pf, pf->own_port);
    if (function->options.data_vls == pf->options.data_vls)
        memcpy(function->sl2vl[function->own_port], pf->sl2vl[pf->own_port],
               sizeof function->sl2vl[0]);
}

/* The switch port of the function gets the settings of the port of the physical function. */
static void copy_switch_port(struct sma *sma, unsigned port)
{
    unsigned ports = sma->port_count + 1u;
    copy_settings(sma, port, sma, VSWITCH_PF);
    for (unsigned i = 0; i < ports; i++) {
        memcpy(sma->sl2vl[port * ports + i], sma->sl2vl[VSWITCH_PF * ports + i],
               sizeof sma->sl2vl[0]);
        memcpy(sma->sl2vl[i * ports + port], sma->sl2vl[i * ports + VSWITCH_PF],
               sizeof sma->sl2vl[0]);
    }
}

uint16_t sma_set_virtual_function(struct sma *sma, unsigned port, uint32_t modifier, uint8_t *data)
{
    (void)port;
    unsigned lid = (unsigned)wire_get(data, VIRTUAL_FUNCTION_LID);
    unsigned lmc = lid ? (unsigned)wire_get(data, VIRTUAL_FUNCTION_LMC) : 0;
    uint64_t guid = wire_get(data, VIRTUAL_FUNCTION_PORT_GUID);
    struct sma *function =
        modifier && modifier <= VSWITCH_VFS_LIMIT ? function_at(sma, VSWITCH_PF + modifier) : NULL;
    if (!function || !addresses_valid(sma, function, lid, lmc))
        return STATUS_BAD_VALUE;
    if (lid && !function_lid(function)) {
        if (sma_physical_function(sma)) {
            copy_pf_settings(function, sma_physical_function(sma));
            copy_switch_port(sma, function->host_port);
        }
    } else if (!lid && function_lid(function)) {
        /* Both ports are Down, so that the physical layer drops the link without a trap. */
        wire_set(sma->ports[function->host_port].info, PORT_INFO_PORT_STATE, PORT_STATE_DOWN);
        wire_set(function_port(function)->info, PORT_INFO_PORT_STATE, PORT_STATE_DOWN);
        function->trap_count = 0;
        memset(function_port(function)->guids, 0, function->options.guids * sizeof(uint64_t));
    }
    wire_set(function_port(function)->info, PORT_INFO_LID, lid);
    wire_set(function_port(function)->info, PORT_INFO_LMC, lmc);
    function_port(function)->guids[0] = guid ? guid : function->own_guid;
    function->attached = wire_get(data, VIRTUAL_FUNCTION_ATTACHED);
    memcpy(function->vm_name, wire_bytes(data, VIRTUAL_FUNCTION_NAME), VSWITCH_NAME_BYTES);
    refresh_table(sma);
    sma->device->changed[function->host_port / 32] |= 1u << (function->host_port % 32);
    return STATUS_OK;
}
