/* Exhaustive search over the states of two and three managers.
 *
 * The search drives the table and the core of src/sm/mastership/mastership_table.c; messages and
 * time are modelled. Faults (lost, delayed and repeated messages, stopped and restarted processes,
 * mute agents, cut links) can only leave the managers in some combination of states of their cores.
 * So the search starts from every combination, whether or not faults can really lead there, and
 * lets the managers run without further faults. It does so for every set of managers that are alive
 * and connected; the others do not answer.
 *
 * Time passes in rounds, of a poll interval each. In a round every manager acts once: a discovering
 * manager queries one other manager or completes its discovery, a standby polls, a master sweeps.
 * The adversary chooses the order of the managers, and the order of the queries. All choices are
 * explored. Claim: no infinite sequence of rounds avoids the state in which the manager of the
 * highest rank is master and all others are its standbys, and nothing leaves that state. */
#include "toy.h"

#include "sm/mastership/mastership_table.h"

#include <assert.h>
#include <string.h>

enum { MOST = 3, NOBODY_BIT = 1 << MOST, UNKNOWN = 0, ON_PATH, CONVERGES };

static const struct mastership_limits limits = {.unanswered = 1, .denied = 1, .awaited = 1};

struct member {
    struct mastership_core core;
    unsigned queried; /* by a discovering manager, by bit */
};

struct world {
    struct member members[MOST];
};

typedef struct mastership_transition step_function(const struct mastership_core *core,
                                                   enum mastership_event event, uint32_t who);

struct search {
    unsigned count;     /* managers */
    unsigned connected; /* by bit; the others do not answer */
    bool clears_is_sm;  /* the port of a manager that is gone shows it */
    step_function *step;
    struct member *states; /* of one manager */
    size_t state_count;
    uint8_t *marks;           /* by combination of states */
    unsigned choice, choices; /* of the adversary in a round: the chosen one, and the number */
    size_t visited;
    bool failed;
    bool quiet; /* a failure is expected */
};

/* ---- states ---- */

static size_t encode_peer(uint32_t peer)
{
    return peer == MASTERSHIP_NOBODY ? MOST : peer;
}

static size_t key_of(const struct member *m)
{
    const struct mastership_core *c = &m->core;
    size_t key = c->state;
    key = key * (MOST + 1) + encode_peer(c->master);
    key = key * (MOST + 1) + encode_peer(c->awaited);
    key = key * (MOST + 1) + encode_peer(c->successor);
    key = key * 2 + c->unanswered;
    key = key * 2 + c->denied;
    key = key * 2 + c->unconfirmed;
    key = key * 2 + c->impatient;
    return key * NOBODY_BIT + m->queried;
}
enum { KEYS = 4 * (MOST + 1) * (MOST + 1) * (MOST + 1) * 16 * NOBODY_BIT };

static uint16_t index_by_key[MOST][KEYS];
static struct member lists[MOST][1024];
static size_t list_counts[MOST];

static void add_state(unsigned self, struct member m)
{
    assert_true(list_counts[self] < 1024);
    index_by_key[self][key_of(&m)] = (uint16_t)(list_counts[self] + 1);
    lists[self][list_counts[self]++] = m;
}

/* A peer of `self`, or nobody, by number. */
static uint32_t peer_number(unsigned self, unsigned count, unsigned i)
{
    if (i == count - 1)
        return MASTERSHIP_NOBODY;
    return i < self ? i : i + 1;
}

static void list_states(unsigned self, unsigned count)
{
    list_counts[self] = 0;
    memset(index_by_key[self], 0, sizeof index_by_key[self]);
    for (unsigned i = 0; i < count; i++) {
        uint32_t peer = peer_number(self, count, i);
        struct member m = {0};
        mastership_core_init(&m.core);
        m.core.state = SM_MASTER;
        m.core.successor = peer;
        add_state(self, m);
        for (unsigned bits = 0; bits < 16; bits++) {
            mastership_core_init(&m.core);
            m.core.state = SM_STANDBY;
            m.core.master = peer;
            m.core.unanswered = bits & 1;
            m.core.denied = bits >> 1 & 1;
            m.core.unconfirmed = bits >> 2 & 1;
            m.core.impatient = bits >> 3;
            add_state(self, m);
        }
        for (unsigned bits = 0; bits < 2 * NOBODY_BIT; bits++) {
            mastership_core_init(&m.core);
            m.core.state = SM_DISCOVERING;
            m.core.awaited = peer;
            m.core.impatient = bits & 1;
            m.queried = bits >> 1;
            if (m.queried >> count == 0 && !(m.queried >> self & 1))
                add_state(self, m);
            m.queried = 0;
        }
    }
}

static size_t index_of(const struct search *s, const struct world *world)
{
    size_t index = 0;
    for (unsigned i = 0; i < s->count; i++) {
        size_t own = index_by_key[i][key_of(&world->members[i])];
        assert_true(own != 0);
        index = index * list_counts[i] + own - 1;
    }
    return index;
}

static struct world world_at(const struct search *s, size_t index)
{
    struct world world = {0};
    for (unsigned i = s->count; i-- > 0; index /= list_counts[i])
        world.members[i] = lists[i][index % list_counts[i]];
    return world;
}

static void print_world(const struct search *s, const struct world *world)
{
    static const char *const names[] = {"not active", "discovering", "standby", "master"};
    for (unsigned i = 0; i < s->count; i++) {
        const struct mastership_core *c = &world->members[i].core;
        print_message("  %u%s %s master %d awaited %d successor %d unanswered %u denied %u%s%s "
                      "queried %u;",
                      i, s->connected >> i & 1 ? "" : " (gone)", names[c->state], (int)c->master,
                      (int)c->awaited, (int)c->successor, c->unanswered, c->denied,
                      c->unconfirmed ? " unconfirmed" : "", c->impatient ? " impatient" : "",
                      world->members[i].queried);
    }
    print_message("\n");
}

/* ---- one round ---- */

static unsigned choose(struct search *s, unsigned among)
{
    assert(among && s->choices); /* the analyser does not know assert_true() */
    unsigned chosen = s->choice / s->choices % among;
    s->choices *= among;
    return chosen;
}

static struct mastership_peer shown(const struct world *world, unsigned i)
{
    return (struct mastership_peer){.guid = 1 + i, .state = world->members[i].core.state};
}

/* Returns the action. */
static enum mastership_action handle(const struct search *s, struct world *world, unsigned i,
                                     enum mastership_event event, uint32_t who)
{
    struct member *m = &world->members[i];
    enum sm_state before = m->core.state;
    struct mastership_transition step = s->step(&m->core, event, who);
    if (step.action != DO_NOTHING)
        mastership_take(&m->core, step, who);
    if (m->core.state != before)
        m->queried = 0;
    return step.action;
}

static enum mastership_action meet(const struct search *s, struct world *world, unsigned i,
                                   unsigned other)
{
    struct mastership_peer us = shown(world, i), them = shown(world, other);
    return handle(s, world, i, mastership_classify(&us, &them), other);
}

static void discover(struct search *s, struct world *world, unsigned i)
{
    unsigned left = s->connected & ~(1u << i) & ~world->members[i].queried, number = 0;
    if (!left) {
        handle(s, world, i, mastership_discovered(&world->members[i].core), MASTERSHIP_NOBODY);
        return;
    }
    for (unsigned other = 0; other < s->count; other++)
        number += left >> other & 1;
    unsigned chosen = choose(s, number);
    for (unsigned other = 0; other < s->count; other++)
        if ((left >> other & 1) && chosen-- == 0) {
            world->members[i].queried |= 1u << other;
            meet(s, world, i, other);
            return;
        }
}

static void poll(struct search *s, struct world *world, unsigned i)
{
    const struct mastership_core *core = &world->members[i].core;
    enum mastership_event event = mastership_poll(core);
    uint32_t master = core->master;
    handle(s, world, i, event, master);
    if (event != ON_POLL_DUE)
        return;
    if (!(s->connected >> master & 1)) {
        handle(s, world, i, ON_POLL_UNANSWERED, master);
        if (s->clears_is_sm)
            handle(s, world, i, ON_MASTER_ENDED, master);
    } else {
        bool is_master = world->members[master].core.state == SM_MASTER;
        handle(s, world, i, is_master ? ON_POLL_ANSWERED : ON_POLL_DENIED, master);
    }
    handle(s, world, i, mastership_polled(core, &limits), MASTERSHIP_NOBODY);
}

/* The receiver acknowledges before it answers. */
static void hand_over(const struct search *s, struct world *world, unsigned i, unsigned other)
{
    bool accepted = handle(s, world, other, ON_HANDOVER, i) != DO_NOTHING;
    if (accepted)
        handle(s, world, i, ON_ACKNOWLEDGE, other);
    handle(s, world, i, accepted ? ON_HANDOVER_ACCEPTED : ON_HANDOVER_FAILED, other);
}

static void sweep(struct search *s, struct world *world, unsigned i)
{
    bool upwards = choose(s, 2);
    handle(s, world, i, ON_SWEEP_BEGINS, MASTERSHIP_NOBODY);
    for (unsigned k = 0; k < s->count && world->members[i].core.state == SM_MASTER; k++) {
        unsigned other = upwards ? k : s->count - 1 - k;
        if (other != i && (s->connected >> other & 1) &&
            meet(s, world, i, other) == DO_SEND_HANDOVER)
            hand_over(s, world, i, other);
    }
}

static void act(struct search *s, struct world *world, unsigned i)
{
    switch (world->members[i].core.state) {
    case SM_DISCOVERING: discover(s, world, i); break;
    case SM_STANDBY: poll(s, world, i); break;
    case SM_MASTER: sweep(s, world, i); break;
    default: break;
    }
    struct mastership_core *core = &world->members[i].core; /* higher counts change nothing */
    core->unanswered = core->unanswered > 1 ? 1 : core->unanswered;
    core->denied = core->denied > 1 ? 1 : core->denied;
}

/* A round by the choices of s->choice. */
static struct world run_round(struct search *s, struct world world)
{
    unsigned left = s->connected;
    s->choices = 1;
    while (left) {
        unsigned number = 0, i = 0;
        for (unsigned other = 0; other < s->count; other++)
            number += left >> other & 1;
        unsigned chosen = choose(s, number);
        while (!(left >> i & 1) || chosen-- > 0)
            i++;
        left &= ~(1u << i);
        act(s, &world, i);
    }
    return world;
}

/* ---- the search ---- */

static bool is_final(const struct search *s, const struct world *world)
{
    unsigned first = 0;
    while (!(s->connected >> first & 1))
        first++;
    for (unsigned i = first; i < s->count; i++) {
        const struct mastership_core *c = &world->members[i].core;
        if ((s->connected >> i & 1) &&
            (i == first ? c->state != SM_MASTER || c->successor != MASTERSHIP_NOBODY
                        : c->state != SM_STANDBY || c->master != first))
            return false;
    }
    return true;
}

static void fail_at(struct search *s, const struct world *world, const char *what)
{
    if (!s->failed && !s->quiet)
        print_message("%s:\n", what);
    s->failed = true;
    if (!s->quiet)
        print_world(s, world);
}

/* Depth first; a round that leads back to the path is an infinite sequence of rounds. */
static void visit(struct search *s, const struct world *world)
{
    size_t index = index_of(s, world);
    bool final = is_final(s, world);
    if (s->marks[index] == CONVERGES || s->failed)
        return;
    if (s->marks[index] == ON_PATH) {
        fail_at(s, world, "the managers never agree");
        return;
    }
    s->marks[index] = ON_PATH;
    s->visited++;
    unsigned choices = 1;
    for (unsigned choice = 0; choice < choices && !s->failed; choice++) {
        s->choice = choice;
        struct world next = run_round(s, *world);
        choices = s->choices > choices ? s->choices : choices;
        if (final && !is_final(s, &next))
            fail_at(s, &next, "the final state does not last");
        if (!final)
            visit(s, &next);
    }
    if (s->failed && !s->quiet)
        print_world(s, world);
    s->marks[index] = CONVERGES;
}

/* False: the managers may never agree. */
static bool converge(unsigned count, step_function *step, bool quiet)
{
    bool fine = true;
    size_t combinations = 1;
    for (unsigned i = 0; i < count; i++) {
        list_states(i, count);
        combinations *= list_counts[i];
    }
    struct search s = {.count = count, .step = step, .quiet = quiet};
    s.marks = test_malloc(combinations);
    for (unsigned set = 1; set < 1u << count && fine; set++)
        for (unsigned clears = 0; clears < 2 && fine; clears++) {
            memset(s.marks, UNKNOWN, combinations);
            s.connected = set;
            s.clears_is_sm = clears;
            for (size_t index = 0; index < combinations && !s.failed; index++) {
                struct world world = world_at(&s, index);
                visit(&s, &world);
            }
            fine = !s.failed;
        }
    if (!quiet)
        print_message("%u managers: %zu states\n", count, s.visited);
    test_free(s.marks);
    return fine;
}

static void two_managers_always_end_with_one_master(void **state)
{
    assert_true(converge(2, mastership_step, false));
}

static void three_managers_always_end_with_one_master(void **state)
{
    assert_true(converge(3, mastership_step, false));
}

/* ---- the search finds defects ---- */

/* A discovering manager stands by for the first manager of higher rank. */
static struct mastership_transition stand_by_early(const struct mastership_core *core,
                                                   enum mastership_event event, uint32_t who)
{
    struct mastership_transition step = mastership_step(core, event, who);
    if (core->state == SM_DISCOVERING && step.action == DO_AWAIT)
        step = (struct mastership_transition){ALWAYS, DO_WATCH, SM_STANDBY, "too early"};
    return step;
}

/* A discovering manager waits for managers of higher rank for ever. */
static struct mastership_transition wait_for_ever(const struct mastership_core *core,
                                                  enum mastership_event event, uint32_t who)
{
    struct mastership_transition step = mastership_step(core, event, who);
    if (event == ON_AWAITED_IN_VAIN)
        step = (struct mastership_transition){ALWAYS, DO_NOTHING, SM_STANDBY, NULL};
    return step;
}

/* A master does not repeat a handover whose outcome it does not know. */
static struct mastership_transition keep_handing_over(const struct mastership_core *core,
                                                      enum mastership_event event, uint32_t who)
{
    if (event == ON_SWEEP_BEGINS)
        return (struct mastership_transition){ALWAYS, DO_NOTHING, core->state, NULL};
    return mastership_step(core, event, who);
}

static void the_search_finds_defects(void **state)
{
    assert_false(converge(3, stand_by_early, true));
    assert_false(converge(3, wait_for_ever, true));
    assert_false(converge(2, keep_handing_over, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_managers_always_end_with_one_master),
        cmocka_unit_test(three_managers_always_end_with_one_master),
        cmocka_unit_test(the_search_finds_defects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
