#include "fixture.h"

struct sma_options plain_options(void)
{
    return (struct sma_options){.data_vls = 8,
                                .mtu = 2048,
                                .vl_arbitration = 64,
                                .linear_entries = 49152,
                                .random_entries = 64,
                                .multicast_entries = 96,
                                .p_keys = 64,
                                .guids = 16,
                                .traps = true,
                                .response_time = 18};
}

static void make(struct sma *sma, const struct sma_identity *identity,
                 const struct sma_options *options)
{
    sma_init(sma, identity, options);
    for (unsigned port = 0; port <= identity->port_count; port++) {
        sma_set_port_guid(sma, port, identity->guid + port);
        sma_set_link_support(sma, port, WIDTHS, SPEEDS, SPEEDS_EXT, false);
    }
}

void make_switch(struct sma *sma, const struct sma_options *options)
{
    make(sma,
         &(struct sma_identity){.kind = SWITCH,
                                .port_count = SWITCH_PORTS,
                                .guid = SWITCH_GUID,
                                .system_guid = SWITCH_GUID,
                                .description = "a switch"},
         options);
}

void make_adapter(struct sma *sma, unsigned ports, const struct sma_options *options)
{
    make(sma,
         &(struct sma_identity){.kind = ADAPTER,
                                .port_count = (uint8_t)ports,
                                .guid = ADAPTER_GUID,
                                .system_guid = ADAPTER_GUID,
                                .vendor_id = 0x2c9,
                                .device_id = 0x1234,
                                .description = "an adapter"},
         options);
}

struct sma a_switch(void)
{
    struct sma sma;
    struct sma_options options = plain_options();
    make_switch(&sma, &options);
    return sma;
}

struct sma an_adapter(void)
{
    struct sma sma;
    struct sma_options options = plain_options();
    make_adapter(&sma, 2, &options);
    return sma;
}

void smp_fill(uint8_t mad[MAD_BYTES], unsigned method, unsigned attribute, uint32_t modifier)
{
    static uint64_t tid = 0x123456789abcdef0;
    memset(mad, 0, MAD_BYTES);
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_SUBN_LID);
    wire_set(mad, MAD_CLASS_VERSION, 1);
    wire_set(mad, MAD_METHOD, method);
    wire_set(mad, MAD_TID, tid++);
    wire_set(mad, MAD_ATTRIBUTE_ID, attribute);
    wire_set(mad, MAD_ATTRIBUTE_MODIFIER, modifier);
}

bool request(struct sma *sma, uint64_t now, unsigned port, uint64_t key, unsigned method,
             unsigned attribute, uint32_t modifier, uint8_t data[SMP_DATA_BYTES], unsigned *status)
{
    uint8_t mad[MAD_BYTES];
    smp_fill(mad, method, attribute, modifier);
    wire_set(mad, SMP_M_KEY, key);
    memcpy(mad + SMP_DATA_OFFSET, data, SMP_DATA_BYTES);
    uint64_t tid = wire_get(mad, MAD_TID);
    enum sma_verdict verdict = sma_receive(sma, now, port, SENDER, mad);
    assert_true(verdict == SMA_REPLY || verdict == SMA_DROP);
    if (verdict == SMA_DROP)
        return false;
    assert_int_equal(wire_get(mad, MAD_METHOD), METHOD_GET_RESP);
    assert_int_equal(wire_get(mad, MAD_TID), tid);
    assert_int_equal(wire_get(mad, MAD_ATTRIBUTE_ID), attribute);
    assert_int_equal(wire_get(mad, MAD_ATTRIBUTE_MODIFIER), modifier);
    memcpy(data, mad + SMP_DATA_OFFSET, SMP_DATA_BYTES);
    *status = (unsigned)wire_get(mad, MAD_STATUS);
    return true;
}

unsigned get_through(struct sma *sma, unsigned port, unsigned attribute, uint32_t modifier,
                     uint8_t data[SMP_DATA_BYTES])
{
    unsigned status = 0;
    assert_true(request(sma, 0, port, 0, METHOD_GET, attribute, modifier, data, &status));
    return status;
}

unsigned set_through(struct sma *sma, unsigned port, unsigned attribute, uint32_t modifier,
                     uint8_t data[SMP_DATA_BYTES])
{
    unsigned status = 0;
    assert_true(request(sma, 0, port, 0, METHOD_SET, attribute, modifier, data, &status));
    return status;
}

uint64_t port_field(const struct sma *sma, unsigned port, enum wire_field field)
{
    return wire_get(sma->ports[port].info, field);
}

unsigned set_port_field(struct sma *sma, unsigned port, enum wire_field field, uint64_t value)
{
    uint8_t data[SMP_DATA_BYTES];
    memcpy(data, sma->ports[port].info, sizeof data);
    /* A Set without a new state has zeros. */
    wire_set(data, PORT_INFO_PORT_STATE, PORT_STATE_NO_CHANGE);
    wire_set(data, PORT_INFO_PORT_PHYSICAL_STATE, PHYSICAL_NO_CHANGE);
    wire_set(data, field, value);
    return set_through(sma, sma->kind == SWITCH ? 0 : port, ATTRIBUTE_PORT_INFO, port, data);
}

void link_up(struct sma *sma, unsigned port)
{
    sma_link_up(sma, port, 2, 4, 8, false);
}

void set_lids(struct sma *sma, unsigned port, unsigned lid, unsigned manager)
{
    assert_int_equal(set_port_field(sma, port, PORT_INFO_LID, lid), STATUS_OK);
    assert_int_equal(set_port_field(sma, port, PORT_INFO_MASTER_SM_LID, manager), STATUS_OK);
}

const uint8_t *next_trap(struct sma *sma, uint64_t now, struct sma_output *output)
{
    assert_true(sma_next_output(sma, now, output));
    assert_int_equal(output->kind, SMA_SEND_TRAP);
    assert_int_equal(wire_get(output->mad, MAD_BASE_VERSION), 1);
    assert_int_equal(wire_get(output->mad, MAD_CLASS), CLASS_SUBN_LID);
    assert_int_equal(wire_get(output->mad, MAD_CLASS_VERSION), 1);
    assert_int_equal(wire_get(output->mad, MAD_METHOD), METHOD_TRAP);
    assert_int_equal(wire_get(output->mad, MAD_ATTRIBUTE_ID), ATTRIBUTE_NOTICE);
    return output->mad + SMP_DATA_OFFSET;
}

void no_output(struct sma *sma, uint64_t now)
{
    struct sma_output output;
    assert_false(sma_next_output(sma, now, &output));
}
