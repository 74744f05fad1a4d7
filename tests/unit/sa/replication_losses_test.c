/* A master and its standby between which messages get lost, and which are stopped: a standby that
 * claims to have all registrations has every one that a client was told of. */
#include "registering.h"

#include "base/rng.h"
#include "sa/internal.h"

#include <stdio.h>

enum { CLIENTS = 6, STEP_MS = 5, LONGEST_STOP_MS = 3000 };

/* A master and its standby between which messages are lost and delayed, while clients register. */
struct replication {
    struct sa_world *world;
    struct sa *standby;
    struct rng rng;
    uint64_t master_stopped_until, standby_stopped_until, cut_until;
    VEC(struct delayed {
        uint64_t at;
        bool to_standby;
        size_t bytes;
        uint8_t *data;
    })
    flying;
    bool acknowledged[CLIENTS]; /* the client has an answer to its last request */
    bool subscribed[CLIENTS];
    uint64_t claims; /* times at which the standby claimed to have all */
    uint64_t longest_wait;
    uint64_t asked_at[CLIENTS]; /* or the time at which a stopped master continues */
};

static bool happens(struct replication *r, unsigned per_mille)
{
    return rng_below(&r->rng, 1000) < per_mille;
}

static const char *client_name(unsigned client)
{
    static const char *const names[CLIENTS] = {"H4", "H7", "H12", "H13", "H14", "H15"};
    return names[client];
}

static void send_subscription(struct replication *r, unsigned client)
{
    struct sa_world *world = r->world;
    uint8_t *info = world_query(world, METHOD_SET, ATTRIBUTE_INFORM_INFO, 0);
    r->subscribed[client] = !r->subscribed[client];
    r->acknowledged[client] = false;
    r->asked_at[client] = world->now;
    wire_set(info, INFORM_INFO_LID_RANGE_BEGIN, 0xFFFF);
    wire_set(info, INFORM_INFO_IS_GENERIC, 1);
    wire_set(info, INFORM_INFO_SUBSCRIBE, r->subscribed[client]);
    wire_set(info, INFORM_INFO_TYPE, 0xFFFF);
    wire_set(info, INFORM_INFO_TRAP_NUMBER, 128);
    wire_set(info, INFORM_INFO_PRODUCER_TYPE, 0xFFFFFF);
    struct sa_message query = {.address.lid = world_lid(world, client_name(client)),
                               .data = world->query,
                               .bytes = MAD_BYTES};
    sa_receive(world->sa, world->now, &query);
}

static void dispatch(struct replication *r, bool to_standby, const struct sa_message *message)
{
    uint64_t delay = rng_below(&r->rng, happens(r, 20) ? 400 : 10) * NS_PER_MS;
    if (happens(r, 30) || r->world->now < r->cut_until)
        return;
    struct delayed one = {r->world->now + delay, to_standby, message->bytes,
                          mem_alloc(message->bytes)};
    memcpy(one.data, message->data, message->bytes);
    vec_push(&r->flying, one);
}

static void deliver(struct replication *r)
{
    uint64_t now = r->world->now;
    for (size_t i = 0; i < r->flying.count;) {
        struct delayed one = r->flying.items[i];
        if (now < one.at ||
            now < (one.to_standby ? r->standby_stopped_until : r->master_stopped_until)) {
            i++;
            continue;
        }
        struct sa_message message = {
            .address.lid = one.to_standby ? MASTER : STANDBY, .data = one.data, .bytes = one.bytes};
        sa_receive(one.to_standby ? r->standby : r->world->sa, now, &message);
        mem_free(one.data);
        vec_remove(&r->flying, i);
    }
}

static void run_sides(struct replication *r)
{
    struct sa_message message;
    uint64_t now = r->world->now;
    if (now >= r->standby_stopped_until) {
        sa_expire(r->standby, now);
        while (sa_deadline(r->standby) <= now && sa_next_output(r->standby, now, &message))
            dispatch(r, false, &message);
    }
    if (now < r->master_stopped_until)
        return;
    sa_expire(r->world->sa, now);
    while (sa_deadline(r->world->sa) <= now && sa_next_output(r->world->sa, now, &message)) {
        if (message.address.lid == STANDBY) {
            dispatch(r, true, &message);
            continue;
        }
        for (unsigned i = 0; i < CLIENTS; i++)
            if (world_lid(r->world, client_name(i)) == message.address.lid && !r->acknowledged[i]) {
                r->acknowledged[i] = true;
                uint64_t wait = now - r->asked_at[i];
                r->longest_wait = wait > r->longest_wait ? wait : r->longest_wait;
            }
    }
}

static bool is_subscribed(const char *registrations, uint16_t lid)
{
    char line[64];
    snprintf(line, sizeof line, "rep_addr: lid=0x%04x ", lid);
    return strstr(registrations, line) != NULL;
}

/* The master may end now. */
static void check_claim(struct replication *r)
{
    if (r->world->now < r->standby_stopped_until || sa_registry_master(r->standby) != MASTER)
        return;
    struct text text = {0};
    sa_registry_print(r->standby, 0, &text);
    r->claims++;
    for (unsigned i = 0; i < CLIENTS; i++)
        if (r->acknowledged[i] &&
            is_subscribed(text.data, world_lid(r->world, client_name(i))) != r->subscribed[i])
            fail_msg("after %llu ms the standby lacks what %s was told",
                     (unsigned long long)(r->world->now / NS_PER_MS), client_name(i));
    text_release(&text);
}

static void stop_and_cut(struct replication *r)
{
    uint64_t now = r->world->now, length = rng_below(&r->rng, LONGEST_STOP_MS) * NS_PER_MS;
    if (rng_below(&r->rng, 10000) == 0)
        r->standby_stopped_until = now + length;
    if (rng_below(&r->rng, 10000) == 0) {
        r->master_stopped_until = now + length;
        for (unsigned i = 0; i < CLIENTS; i++)
            r->asked_at[i] = r->master_stopped_until;
    }
    if (rng_below(&r->rng, 10000) == 0)
        r->cut_until = now + length;
}

/* For 100 s. */
static void run_replication(struct replication *r)
{
    for (unsigned i = 0; i < CLIENTS; i++)
        r->acknowledged[i] = true;
    for (unsigned step = 0; step < 20000; step++, r->world->now += STEP_MS * NS_PER_MS) {
        unsigned client = (unsigned)rng_below(&r->rng, CLIENTS);
        stop_and_cut(r);
        deliver(r);
        if (happens(r, 20) && r->acknowledged[client] && r->world->now >= r->master_stopped_until)
            send_subscription(r, client);
        run_sides(r);
        check_claim(r);
    }
    for (size_t i = 0; i < r->flying.count; i++)
        mem_free(r->flying.items[i].data);
    vec_release(&r->flying);
}

static void a_standby_that_claims_to_have_all_has_every_acknowledged_registration(void **state)
{
    uint64_t claims = 0;
    for (unsigned seed = 0; seed < 5; seed++) {
        void *world = NULL;
        open_registering(&world);
        struct replication r = {.world = world, .standby = a_standby(world)};
        rng_seed(&r.rng, seed, 0);
        run_replication(&r);
        assert_true(r.longest_wait < 3 * NS_PER_S);
        claims += r.claims;
        sa_free(r.standby);
        close_world(&world);
    }
    assert_in_range(claims, 20000, 80000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_standby_that_claims_to_have_all_has_every_acknowledged_registration),
    };
    return RUN(tests);
}
