/* See managers.h. */
#include "managers.h"

#include <string.h>

struct sm_config with_priority(unsigned priority)
{
    struct sm_config config = toy_config_sweeping(10 * TOY_S);
    config.priority = (uint8_t)priority;
    config.full_every = 1;
    return config;
}

unsigned start_with_priority(struct toy *toy, const char *node, unsigned priority)
{
    struct sm_config config = with_priority(priority);
    return toy_start_manager(toy, node, &config);
}

enum sm_state state_of(const struct toy *toy, unsigned manager)
{
    return sm_state(toy->managers[manager].sm);
}

struct toy *master_and_standby(void **state)
{
    struct toy *toy = toy_open(state, star);
    start_with_priority(toy, "H1", 5);
    toy_settle(toy);
    start_with_priority(toy, "H2", 5);
    toy_run(toy, 5 * TOY_S);
    assert_int_equal(state_of(toy, 0), SM_MASTER);
    assert_int_equal(state_of(toy, 1), SM_STANDBY);
    return toy;
}

void fill_master(struct toy *toy, const char *node, uint64_t key, uint8_t info[64])
{
    memset(info, 0, 64);
    wire_set(info, SM_INFO_GUID, toy_node(toy, node)->guid + 1);
    wire_set(info, SM_INFO_SM_KEY, key);
    wire_set(info, SM_INFO_STATE, SM_MASTER);
}
