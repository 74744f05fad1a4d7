#include "life.h"

#include "host/files/store.h"
#include "test.h"

const uint8_t life_mgid[16] = {0xFF, 0x12, 0xA0, 0x1C, [15] = 7};
const char *const life_hosts[] = {"H1", "H2", "H3", "H4", "H5", "H6"};
#define PREFIX UINT64_C(0xFE80000000000000)

void life_start(struct life *life, const char *directory, uint64_t instance)
{
    static const char *const words[] = {"switches=4", "hosts=8", "ports=8"};
    struct sa_config config;
    sa_config_init(&config);
    config.instance = instance;
    memset(life, 0, sizeof *life);
    world_open(&life->world, &(struct sa_world_shape){.kind = "irregular",
                                                      .words = {words[0], words[1], words[2]},
                                                      .config = &config});
    assert_int_equal(event_log_open(&life->log, &(struct log_options){.path = "/dev/null"}, NULL),
                     0);
    life->registrations =
        (struct registrations){.directory = mem_strdup(directory), .log = &life->log};
    registrations_open(&life->registrations, life->world.sa, life->world.now);
}

void life_kill(struct life *life)
{
    registrations_close(&life->registrations);
    event_log_close(&life->log);
    world_close(&life->world);
}

void life_send(struct life *life, const char *host, unsigned method, uint64_t mask)
{
    struct sa_world *world = &life->world;
    uint8_t *record = world_query(world, method, ATTRIBUTE_MC_MEMBER_RECORD, mask);
    uint8_t *gid = wire_bytes(record, MC_MEMBER_RECORD_PORT_GID);
    memcpy(wire_bytes(record, MC_MEMBER_RECORD_MGID), life_mgid, 16);
    wire_set_bits(gid, 0, 64, PREFIX);
    wire_set_bits(gid, 64, 64, world_guid(world, host));
    wire_set(record, MC_MEMBER_RECORD_P_KEY, 0xFFFF);
    wire_set(record, MC_MEMBER_RECORD_JOIN_STATE, JOIN_FULL);
    world->from = world_lid(world, host);
    assert_int_equal(world_send(world), NO_ANSWER); /* not yet */
}

unsigned life_answers(struct life *life)
{
    struct sa_message message;
    unsigned count = 0;
    while (sa_next_output(life->world.sa, life->world.now, &message)) {
        assert_int_equal(wire_get(message.data, MAD_STATUS), STATUS_OK);
        count++;
    }
    return count;
}

void life_join(struct life *life, const char *host)
{
    life_send(life, host, METHOD_SET, 0x130C7);
    assert_int_equal(life_answers(life), 0);
    assert_true(registrations_commit(&life->registrations, life->world.now, life->world.sa));
    assert_int_equal(life_answers(life), 1);
    assert_false(registrations_commit(&life->registrations, life->world.now, life->world.sa));
}

void life_leave(struct life *life, const char *host)
{
    life_send(life, host, METHOD_DELETE, 0x10003);
    assert_true(registrations_commit(&life->registrations, life->world.now, life->world.sa));
    assert_int_equal(life_answers(life), 1);
}

unsigned life_members(struct life *life)
{
    const struct group *group = groups_find(sa_groups(life->world.sa), life_mgid);
    unsigned set = 0;
    for (unsigned i = 0; group && i < HOSTS; i++)
        set |= (unsigned)(group_find_member(group, world_guid(&life->world, life_hosts[i])) != NULL)
               << i;
    return set;
}

void life_write_dump(struct life *life, const char *directory)
{
    struct text content = {0};
    registrations_take(&life->registrations, life->world.now, life->world.sa, &content);
    assert_true(content.length > 0);
    assert_int_equal(store_replace(directory, REGISTRATIONS_FILE, &content), 0);
    text_release(&content);
}
