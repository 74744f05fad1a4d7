/* Many connections over a wire that loses, duplicates and reorders messages: whatever happens, both
 * ends agree in the end, a request makes one connection at most, and every ID becomes free. */
#include "pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 1000, CONNECTIONS = 8, FIRST_QP = 50 };

struct seen {
    unsigned requests, established, ended;
};

/* What the owner of an end does. QPs name connections at both ends: the passive end uses the number
 * of the active one plus 1000. */
static void own(struct pair *pair, unsigned end, uint32_t ids[CONNECTIONS],
                struct seen seen[CONNECTIONS])
{
    struct cm_event event;
    while (cm_next_event(pair->ends[end], &event)) {
        unsigned number = 0;
        switch (event.kind) {
        case CM_EVENT_REQUEST:
            number = event.message.qpn - FIRST_QP;
            assert_true(number < CONNECTIONS);
            seen[number].requests++;
            if (number % 4 == 3)
                cm_reject(pair->ends[1], pair->now, event.id,
                          &(struct cm_message){.reason = CM_CONSUMER});
            else
                cm_accept(pair->ends[1], pair->now, event.id,
                          &(struct cm_message){.qpn = event.message.qpn + 1000});
            break;
        case CM_EVENT_REPLY:
            number = event.message.qpn - FIRST_QP - 1000;
            assert_int_equal(event.id, ids[number]);
            seen[number].established++;
            cm_confirm(pair->ends[0], pair->now, event.id);
            break;
        case CM_EVENT_REJECTED:
        case CM_EVENT_UNREACHABLE:
            for (number = 0; end == 0 && number < CONNECTIONS; number++)
                seen[number].ended += ids[number] == event.id;
            break;
        default: break;
        }
    }
}

static void run_until_quiet(struct pair *pair, uint32_t ids[CONNECTIONS],
                            struct seen seen[CONNECTIONS])
{
    uint64_t limit = pair->now + 10 * TIME_S;
    while (pair_step(pair, limit)) {
        own(pair, 0, ids, seen);
        own(pair, 1, ids, seen);
    }
    assert_int_equal(pair->flights.count, 0);
}

static void one_seed(uint64_t seed)
{
    struct pair pair;
    struct seen seen[CONNECTIONS] = {{0}};
    uint32_t ids[CONNECTIONS];
    pair_init(&pair, seed);
    pair.loss = RNG_CERTAIN / 100 * (seed % 31);
    pair.duplicates = RNG_CERTAIN / 100 * (seed % 23);
    pair.jitter = seed % 3 * 600 * TIME_US; /* up to more than the time of an answer */
    cm_listen(pair.ends[1], SERVICE);
    for (unsigned i = 0; i < CONNECTIONS; i++)
        ids[i] = pair_connect(&pair, FIRST_QP + i);
    run_until_quiet(&pair, ids, seen);
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        assert_true(seen[i].established <= 1);
        assert_true(pair.loss || pair.jitter || seen[i].requests == 1);
        assert_true(pair.loss || seen[i].established + seen[i].ended == 1);
        if (i % 4 == 3)
            assert_int_equal(seen[i].established, 0);
        if (cm_state(pair.ends[0], ids[i]) == CM_ESTABLISHED)
            cm_disconnect(pair.ends[0], pair.now, ids[i]);
    }
    run_until_quiet(&pair, ids, seen);
    assert_int_equal(cm_connections(pair.ends[0]), 0);
    /* DREQs that were all lost leave a half open at the passive end, as in life. */
    if (!pair.loss)
        assert_int_equal(cm_connections(pair.ends[1]), 0);
    pair_release(&pair);
}

static void both_ends_agree_over_any_wire(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        one_seed(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_ends_agree_over_any_wire)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
