/* The subnet administration under any sequence of messages, notices, changes and time.
 *
 * The input is a list of steps. Each begins with a byte that says what is done: a message (raw, or
 * put together from a few bytes so that a short input gets beyond the checks of the header), a
 * notice, time, a host that goes or comes back, or a turn of work. The promises that clients and
 * the manager rely on hold after every step: an answer has its question's transaction, class and
 * address and a status of the specification; a table is whole records; what waits stays within its
 * bounds; a group's MLID leads back to it, and no group is without members unless it is permanent;
 * an alias GUID leads back to its port, and no port has it as its own.
 *
 * The subnet and its routes are made once. Each input begins with all hosts and a new SA. Limits
 * are low, so that few steps reach them. */
#include "base/map.h"
#include "input.h"
#include "pure.h"
#include "sa_world.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { QUEUE_LIMIT = 24, CLIENT_LIMIT = 6, LONGEST = 2048, STEPS_AT_MOST = 100 };

static uint64_t some_guid(const struct sa_world *world, unsigned choice)
{
    return choice < 0x80 ? world->subnet->ports.items[choice % world->subnet->ports.count].guid
                         : choice;
}

/* Method, attribute, mask, two GIDs or a few patches. */
static void take_short_mad(struct sa_world *world, struct input *input, uint8_t *mad)
{
    static const uint8_t methods[] = {METHOD_GET,        METHOD_GET_TABLE, METHOD_SET,
                                      METHOD_DELETE,     METHOD_GET_MULTI, METHOD_GET_TRACE_TABLE,
                                      METHOD_REPORT_RESP};
    static const uint8_t attributes[] = {0x01, 0x03, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
                                         0xF3, 0x20, 0x30, 0x31, 0x33, 0x35, 0x36, 0x38, 0x3A};
    uint64_t mask = 0;
    unsigned kind = take(input);
    for (unsigned i = 0; i < 3; i++)
        mask = mask << 8 | take(input);
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_SUBN_ADM);
    wire_set(mad, MAD_CLASS_VERSION, 2);
    wire_set(mad, MAD_METHOD, methods[kind % 7]);
    wire_set(mad, MAD_ATTRIBUTE_ID, attributes[take(input) % sizeof attributes]);
    wire_set(mad, MAD_TID, take(input));
    wire_set(mad, SA_COMPONENT_MASK, mask);
    wire_set(mad, SA_SM_KEY, kind >> 6);
    for (unsigned i = 0; i < 2; i++) {
        /* where groups, paths and services have their GIDs */
        unsigned at = SA_DATA_OFFSET + 8 * (take(input) % 8);
        wire_set_bits(mad + at, 0, 64, UINT64_C(0xFE80000000000000));
        wire_set_bits(mad + at, 64, 64, some_guid(world, take(input)));
    }
    for (unsigned patches = take(input) % 24; patches && input->left; patches--) {
        unsigned offset = SA_DATA_OFFSET + take(input) % SA_DATA_BYTES;
        mad[offset] = (uint8_t)take(input);
    }
}

static void step_message(struct sa_world *world, struct input *input, bool raw)
{
    uint8_t message[LONGEST] = {0};
    unsigned from = take(input), length = take(input);
    size_t bytes = length < 0xF0 ? MAD_BYTES : (length & 0xF) * (LONGEST / 16);
    if (raw)
        for (size_t i = 0; i < bytes && input->left; i++)
            message[i] = (uint8_t)take(input);
    else
        take_short_mad(world, input, message);
    struct sa_message question = {.address = {.lid = (uint16_t)(from % 20), .qp = 1 + from / 128},
                                  .data = message,
                                  .bytes = bytes};
    sa_receive(world->sa, world->now, &question);
}

static void check_answer(const struct sa_message *answer)
{
    const uint8_t *mad = answer->data;
    uint64_t method = wire_get(mad, MAD_METHOD), status = wire_get(mad, MAD_STATUS);
    promise(answer->bytes >= SA_DATA_OFFSET);
    promise(wire_get(mad, MAD_CLASS) == CLASS_SUBN_ADM);
    promise(wire_get(mad, SA_SM_KEY) == 0);
    if (method == METHOD_REPORT) {
        promise(answer->bytes == MAD_BYTES && answer->request_timeout_ns);
        return;
    }
    promise(method & METHOD_RESPONSE);
    promise((status & 0xFF) <= 0x1C && (status >> 8) <= 7);
    if (status || wire_get(mad, RMPP_FLAGS) == 0) {
        promise(answer->bytes == MAD_BYTES);
        return;
    }
    uint64_t record = 8 * wire_get(mad, SA_ATTRIBUTE_OFFSET), data = answer->bytes - SA_DATA_OFFSET;
    promise(record ? data % record == 0 : data == 0);
}

static void check_groups(const struct groups *groups)
{
    for (size_t i = 0; i < groups->all.count; i++) {
        const struct group *group = groups->all.items[i];
        promise(groups_at(groups, group->mlid) == group);
        promise(groups_find(groups, group->mgid) == group);
        promise(group->permanent || group_has_full_member(group));
        promise(group->mtu >= 1 && group->mtu <= 5);
        for (size_t j = 0; j < group->members.count; j++)
            promise(group->members.items[j].join_state);
        promise(i == 0 || memcmp(groups->all.items[i - 1]->mgid, group->mgid, 16) < 0);
    }
}

static void check_aliases(const struct sa_world *world)
{
    const struct alias_guids *aliases = sa_alias_guids(world->sa);
    for (size_t i = 0; i < aliases->blocks.count; i++) {
        const struct alias_block *block = &aliases->blocks.items[i];
        promise(alias_guids_find(aliases, block->port_guid, block->number) == block);
        for (unsigned place = 0; place < ALIAS_PLACES; place++) {
            uint64_t guid = block->guids[place];
            if (!guid)
                continue;
            promise(block->number || place);
            promise(alias_guids_port(aliases, guid) == block->port_guid);
            for (size_t port = 0; port < world->subnet->ports.count; port++)
                promise(world->subnet->ports.items[port].guid != guid);
        }
    }
}

static void step_turn(struct sa_world *world, uint64_t *digest)
{
    struct sa_message answer;
    struct sa_counts counts;
    unsigned pulled = 0;
    sa_expire(world->sa, world->now);
    while (sa_next_output(world->sa, world->now, &answer)) {
        promise(++pulled < 2000);
        check_answer(&answer);
        *digest = hash_bytes(*digest, answer.data, answer.bytes / 8 * 8);
    }
    sa_counts(world->sa, &counts);
    promise(counts.waiting <= QUEUE_LIMIT);
    check_groups(sa_groups(world->sa));
    check_aliases(world);
}

static void step_notice(struct sa_world *world, struct input *input)
{
    uint8_t notice[WIRE_BYTES_NOTICE] = {0x80};
    for (unsigned i = 0; i < 12 && input->left; i++)
        notice[i] = (uint8_t)take(input);
    sa_notice(world->sa, world->now, notice);
}

/* The last terminals come and go, and sometimes there is nothing to see at all. */
static void step_change(struct sa_world *world, struct input *input)
{
    unsigned what = take(input);
    struct sa_view none = {.subnet = world->subnet};
    if (what % 8 == 7) {
        sa_update_view(world->sa, world->now, &none);
        return;
    }
    world_miss_hosts(world, what % 4);
}

static struct sa_world *new_world(void)
{
    static struct sa_world world;
    struct sa_config config;
    sa_config_init(&config);
    config.queue_limit = QUEUE_LIMIT;
    config.client_limit = CLIENT_LIMIT;
    config.service_limit = config.subscription_limit = 8;
    config.port_groups = config.port_mlids = config.port_services = config.port_subscriptions = 4;
    config.port_aliases = 4;
    config.report_limit = 20;
    config.answer_limit = 16384;
    if (world.sa)
        world_reset(&world, &config);
    else
        world_open(&world, &(struct sa_world_shape){.kind = "figure1", .config = &config});
    return &world;
}

static uint64_t run(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct sa_world *world = new_world();
    uint64_t digest = 0;
    for (unsigned step = 0; step < STEPS_AT_MOST && input.left; step++) {
        unsigned what = take(&input);
        switch (what % 8) {
        case 0: step_message(world, &input, true); break;
        case 1: step_notice(world, &input); break;
        case 2: world->now += (uint64_t)what << 32; break;
        case 3: step_change(world, &input); break;
        case 4: step_turn(world, &digest); break;
        default: step_message(world, &input, false); break;
        }
    }
    for (unsigned turns = 0; turns < 50 && sa_deadline(world->sa) == 0; turns++)
        step_turn(world, &digest);
    return digest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    run_pure(run, data, size);
    return 0;
}
