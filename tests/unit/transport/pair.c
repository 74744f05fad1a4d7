/* See pair.h. */
#include "pair.h"

struct toy toy;
struct toy_end ends[2];

void begin_with(const struct toy_pair *pair, struct transport_config *given)
{
    struct transport_config config;
    transport_config_init(&config);
    if (given)
        config = *given;
    config.accesses = true;
    toy_init(&toy, 2, &config, 1);
    toy_connect(&toy, ends, pair);
    for (uint32_t i = 0; i < pair->region_bytes; i++)
        ends[0].region.bytes[i] = (uint8_t)(i * 7 + i / 251);
}

void begin(void)
{
    begin_with(&toy_pair_default, NULL);
}

void finish(void)
{
    toy_release(&toy);
    toy_end_release(&ends[0]);
    toy_end_release(&ends[1]);
}

void expect(const struct toy_end *at, uint64_t id, unsigned status, unsigned operation)
{
    struct transport_completion completion = toy_poll(&toy, at);
    assert_int_equal(completion.status, status);
    assert_int_equal(completion.id, id);
    assert_int_equal(completion.operation, operation);
}

void expect_nothing(const struct toy_end *at)
{
    assert_int_equal(toy_poll(&toy, at).status, 255);
}

struct transport_qp_view view_of(const struct toy_end *at)
{
    struct transport_qp_view view;
    assert_int_equal(transport_query_qp(toy.adapters[at->adapter], at->qp, &view), 0);
    return view;
}

const struct transport_counters *counters_of(unsigned adapter)
{
    return transport_counters(toy.adapters[adapter]);
}

static bool drop_some(struct toy *at, unsigned from, struct transport_packet *packet)
{
    struct drop *drop = at->context;
    if (from != drop->from ||
        (drop->operation != 99 && transport_operation_of(packet->opcode) != drop->operation))
        return true;
    uint64_t index = drop->seen++;
    return index < drop->skip || index >= drop->skip + drop->count;
}

void lose(struct drop *drop)
{
    toy.filter = drop_some;
    toy.context = drop;
}

unsigned sent_packets(unsigned adapter, unsigned operation)
{
    unsigned count = 0;
    for (size_t i = 0; i < toy.trace.count; i++)
        count += toy.trace.items[i].sent && toy.trace.items[i].adapter == adapter &&
                 transport_operation_of(toy.trace.items[i].packet.opcode) == operation;
    return count;
}

void send_one(unsigned operation, uint64_t id, uint32_t offset, uint32_t bytes,
              uint32_t remote_offset, const struct toy_end *remote)
{
    assert_int_equal(toy_send(&toy, &ends[0], operation, id, offset, bytes, remote_offset, remote),
                     0);
    toy_run(&toy, TIME_NEVER);
    expect(&ends[0], id, STATUS_SUCCESS, operation);
}
