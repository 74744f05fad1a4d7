/* Random connections under the checker: messages of all kinds in both directions, over a wire that
 * loses up to a fifth of the packets, duplicates and reorders, with receivers that are not ready,
 * ends that stop for a while or for ever, and keys that do not allow what is asked. Half of them
 * get alternate paths, and some of these lose the first wire for ever.
 *
 * RANDOM_SEED=n repeats one run. */
#include "checker.h"
#include "effort.h"
#include "path_checker.h"
#include "toy.h"

#include "base/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    MESSAGES = 40, /* of either end */
    LONGEST = 12 * 1024,
    SOURCE = 0, /* areas of a region: read by others, written by others, a counter, results */
    TARGET = 64 * 1024,
    COUNTER = 128 * 1024,
    RESULTS = COUNTER + 64,
    RECEIVES = RESULTS + MESSAGES * LONGEST,
    REGION = RECEIVES + MESSAGES * LONGEST,
    ALTERNATE = TOY_LID + 100, /* LID of the second port of the first adapter */
};

struct plan { /* what was posted with an id */
    uint8_t operation;
    uint32_t source, bytes, target;
    bool allowed;
};

struct world {
    struct toy toy;
    struct toy_end ends[2];
    struct toy_pair pair;
    struct rng rng;
    struct plan plans[2][MESSAGES];
    unsigned posted[2], receives[2];
    bool killed[2], forbidden[2];
    bool has_alternates, cut;
    size_t loaded[2]; /* packets before an end got its alternate path; SIZE_MAX: it has none */
    VEC(struct transport_completion) completions[2];
};

static uint64_t pick(struct world *world, uint64_t count)
{
    return rng_below(&world->rng, count);
}

static void choose_pair(struct world *world, struct transport_config *config)
{
    static const uint16_t mtus[] = {256, 512, 1024, 2048, 4096};
    transport_config_init(config);
    config->accesses = true;
    config->ports = 2;
    config->window = (uint32_t)(4 + pick(world, 125));
    config->packets_per_acknowledge = (uint16_t)(1 + pick(world, 64));
    world->pair = toy_pair_default;
    world->pair.service = pick(world, 5) == 0 ? TRANSPORT_UC : TRANSPORT_RC;
    world->pair.mtu = mtus[pick(world, 5)];
    world->pair.timeout = (uint8_t)(5 + pick(world, 4));
    world->pair.retry_count = pick(world, 4) ? 7 : (uint8_t)pick(world, 8);
    world->pair.rnr_retry = pick(world, 4) ? 7 : (uint8_t)pick(world, 8);
    world->pair.rnr_timer = (uint8_t)(1 + pick(world, 12));
    world->pair.reads = (uint8_t)(1 + pick(world, 8));
    world->pair.credits = pick(world, 2);
    world->pair.region_bytes = REGION;
    world->pair.psn[0] = (uint32_t)pick(world, 1 << 24);
    world->pair.psn[1] = (uint32_t)(TRANSPORT_PSN_MASK - pick(world, 100));
    world->has_alternates = pick(world, 2);
}

static bool pass_wire(struct toy *toy, unsigned from, struct transport_packet *packet)
{
    const struct world *world = toy->context;
    (void)from;
    return !world->cut || packet->dlid >= ALTERNATE;
}

static void make_world(struct world *world, uint64_t seed)
{
    struct transport_config config;
    memset(world, 0, sizeof *world);
    rng_seed(&world->rng, seed, 1);
    choose_pair(world, &config);
    toy_init(&world->toy, 2, &config, seed);
    world->toy.latency_ps = (1 + pick(world, 20)) * TIME_US;
    world->toy.jitter_ps = pick(world, 30) * TIME_US;
    world->toy.loss = pick(world, 4) ? pick(world, RNG_CERTAIN / 5) : 0;
    world->toy.duplicates = pick(world, 2) ? pick(world, RNG_CERTAIN / 10) : 0;
    world->toy.reorder = pick(world, 2) ? pick(world, RNG_CERTAIN / 5) : 0;
    world->toy.filter = pass_wire;
    world->toy.context = world;
    toy_connect(&world->toy, world->ends, &world->pair);
    for (unsigned i = 0; i < 2; i++) {
        world->loaded[i] = SIZE_MAX;
        for (uint32_t at = 0; at < TARGET; at += 8) {
            uint64_t value = hash_mix(seed * 2 + i + at);
            memcpy(world->ends[i].region.bytes + at, &value, 8);
        }
    }
}

static void release_world(struct world *world)
{
    for (unsigned i = 0; i < 2; i++) {
        vec_release(&world->completions[i]);
        toy_end_release(&world->ends[i]);
    }
    toy_release(&world->toy);
}

/* ---- what happens ---- */

static struct plan choose_plan(struct world *world)
{
    static const uint8_t operations[] = {WORK_SEND,  WORK_SEND_IMMEDIATE,
                                         WORK_WRITE, WORK_WRITE_IMMEDIATE,
                                         WORK_READ,  WORK_FETCH_ADD};
    bool reliable = world->pair.service == TRANSPORT_RC;
    struct plan plan = {
        .operation = operations[pick(world, reliable ? 6 : 4)],
        .bytes = (uint32_t)pick(world, pick(world, 2) ? LONGEST : 300),
        .allowed = !reliable || pick(world, 150) != 0,
    };
    plan.source = (uint32_t)pick(world, TARGET - LONGEST);
    plan.target = (uint32_t)pick(world, TARGET - LONGEST);
    if (plan.operation == WORK_FETCH_ADD)
        plan.bytes = 8;
    return plan;
}

static void post(struct world *world, unsigned which)
{
    unsigned id = world->posted[which];
    struct toy_end *end = &world->ends[which], *peer = &world->ends[!which];
    struct plan plan = choose_plan(world);
    bool reads = plan.operation == WORK_READ, atomic = plan.operation == WORK_FETCH_ADD;
    uint32_t local = reads || atomic ? RESULTS + id * LONGEST : SOURCE + plan.source;
    struct transport_segment segment = {end->region.start + local, plan.bytes, end->key};
    struct transport_work work = {
        .id = id,
        .memory = (uintptr_t)(end->region.bytes + local),
        .operation = plan.operation,
        .segment_count = 1,
        .segments = &segment,
        .immediate = (uint32_t)hash_mix(id + 1000 * which),
        .r_key = peer->key + !plan.allowed,
        .address = peer->region.start + (reads    ? SOURCE + plan.source
                                         : atomic ? COUNTER
                                                  : TARGET + plan.target),
        .swap_or_add = id + 1,
    };
    if (plan.operation <= WORK_SEND_IMMEDIATE)
        plan.allowed = true;
    world->plans[which][id] = plan;
    if (transport_post_send(world->toy.adapters[which], end->qp, &work) == 0)
        world->posted[which]++;
}

static void give_receive(struct world *world, unsigned which)
{
    unsigned id = world->receives[which];
    if (id < MESSAGES &&
        toy_receive(&world->toy, &world->ends[which], id, RECEIVES + id * LONGEST, LONGEST) == 0)
        world->receives[which]++;
}

static void kill(struct world *world, unsigned which)
{
    struct transport_qp_attributes error = {.state = STATE_ERROR};
    world->killed[which] = true;
    assert_int_equal(transport_modify_qp(world->toy.adapters[which], world->toy.now,
                                         world->ends[which].qp, &error, ATTRIBUTE_STATE, NULL),
                     0);
    toy_drain(&world->toy, which);
}

static void load_alternate(struct world *world, unsigned which)
{
    struct transport_qp_attributes attributes = {
        .alternate = {.dlid = (uint16_t)(ALTERNATE + !which),
                      .port = 2,
                      .timeout = world->pair.timeout},
        .migration = MIGRATION_REARM,
    };
    if (transport_modify_qp(world->toy.adapters[which], world->toy.now, world->ends[which].qp,
                            &attributes, ATTRIBUTE_ALTERNATE | ATTRIBUTE_MIGRATION, NULL) == 0)
        world->loaded[which] = world->toy.trace.count;
}

/* Alternate paths come, and wires go. */
static void change_paths(struct world *world)
{
    if (!world->has_alternates)
        return;
    for (unsigned i = 0; i < 2; i++)
        if (world->loaded[i] == SIZE_MAX && pick(world, 5) == 0)
            load_alternate(world, i);
    world->cut |= pick(world, 80) == 0;
}

static void collect(struct world *world)
{
    for (unsigned i = 0; i < 2; i++)
        for (;;) {
            struct transport_completion completion = toy_poll(&world->toy, &world->ends[i]);
            if (completion.status == 255)
                break;
            vec_push(&world->completions[i], completion);
        }
}

static void live(struct world *world)
{
    bool stops = pick(world, 3) == 0, kills = pick(world, 6) == 0;
    for (unsigned step = 0; step < 60; step++) {
        for (unsigned i = 0; i < 2; i++) {
            if (world->posted[i] < MESSAGES && pick(world, 2))
                post(world, i);
            for (uint64_t n = pick(world, 3); n > 0; n--)
                give_receive(world, i);
            if (stops && pick(world, 10) == 0)
                world->toy.stopped[i] = !world->toy.stopped[i];
            if (kills && pick(world, 60) == 0 && !world->killed[i])
                kill(world, i);
        }
        change_paths(world);
        toy_run(&world->toy, world->toy.now + pick(world, 200) * TIME_US);
        collect(world);
    }
    for (unsigned i = 0; i < 2; i++) {
        world->toy.stopped[i] = false;
        while (world->receives[i] < MESSAGES)
            give_receive(world, i);
    }
    toy_run(&world->toy, TIME_NEVER);
    collect(world);
}

/* ---- what must hold ---- */

/* The packets of both ends before the one that broke a rule. */
static void print_trace(const struct toy *toy, size_t upto)
{
    for (size_t i = upto > 60 ? upto - 60 : 0; i <= upto; i++) {
        const struct toy_trace *item = &toy->trace.items[i];
        const struct transport_packet *packet = &item->packet;
        print_message("%12llu end %u %s PSN %u opcode %02x%s %u bytes, syndrome %02x, MSN %u\n",
                      (unsigned long long)item->time, item->adapter, item->sent ? "sends" : "gets ",
                      packet->psn, packet->opcode, packet->acknowledge ? ", AckReq," : ",",
                      packet->payload.bytes, packet->syndrome, packet->msn);
    }
}

static struct checker *new_checker(const struct world *world, unsigned from)
{
    const struct toy_pair *pair = &world->pair;
    const struct toy_end *target = &world->ends[!from];
    struct checker_flow flow = {
        .mtu = pair->mtu,
        .first_psn = pair->psn[from],
        .reads = pair->reads,
        .timeout_ps = transport_timeout_ps(pair->timeout),
        .retries = pair->retry_count,
        .rnr_retries = pair->rnr_retry,
        .alternate = world->loaded[from] == SIZE_MAX ? 0 : (uint16_t)(ALTERNATE + !from),
        .regions = {{target->key, target->region.start, REGION, true, true, true}},
    };
    return checker_new(&flow, pair->service);
}

/* Whether a packet belongs to the requests of an end: these, and their responses. */
static bool of_flow(const struct toy_trace *item, unsigned from)
{
    bool response = transport_parts_of(item->packet.opcode) & PART_RESPONSE;
    bool from_requester = item->sent == (item->adapter == from);
    return response != from_requester;
}

static bool show(struct checker *checker, const struct toy_trace *item, unsigned from)
{
    return !of_flow(item, from) ||
           checker_add(checker, item->time,
                       item->adapter == from ? CHECKER_REQUESTER : CHECKER_RESPONDER, item->sent,
                       &item->packet);
}

/* No connection has broken, so that everything must have been done. */
static bool is_quiet(const struct world *world)
{
    bool quiet = true;
    for (unsigned i = 0; i < 2; i++) {
        struct transport_qp_view view;
        transport_query_qp(world->toy.adapters[i], world->ends[i].qp, &view);
        quiet &= view.attributes.state == STATE_RTS;
    }
    return quiet;
}

/* The path of the end of a packet; what arrives by another one is not shown to the flows. */
static void check_path(struct world *world, const struct toy_trace *item,
                       struct path_checker *paths, struct checker *flow)
{
    unsigned end = item->adapter;
    size_t index = (size_t)(item - world->toy.trace.items);
    if (!paths->alternate && world->loaded[end] <= index)
        path_checker_load(paths, (uint16_t)(ALTERNATE + !end));
    if (path_checker_add(paths, item->sent, &item->packet, checker_exhausted(flow, item->time)))
        return;
    print_trace(&world->toy, index);
    fail_msg("end %u at %llu ps: %s", end, (unsigned long long)item->time, paths->error);
}

/* Both flows, and the paths of both ends. */
static void check_trace(struct world *world, struct checker *flows[2], bool quiet)
{
    struct path_checker paths[2] = {{0}};
    for (unsigned end = 0; end < 2; end++) {
        flows[end] = new_checker(world, end);
        paths[end].path = (uint16_t)(TOY_LID + !end);
    }
    for (size_t i = 0; i < world->toy.trace.count; i++) {
        const struct toy_trace *item = &world->toy.trace.items[i];
        check_path(world, item, &paths[item->adapter], flows[item->adapter]);
        for (unsigned from = 0; from < 2 && !paths[item->adapter].dropped; from++)
            if (!show(flows[from], item, from)) {
                print_trace(&world->toy, i);
                fail_msg("from end %u at %llu ps: %s", from, (unsigned long long)item->time,
                         checker_error(flows[from]));
            }
    }
    for (unsigned from = 0; from < 2; from++)
        if (quiet && !checker_finish(flows[from]))
            fail_msg("from end %u: %s", from, checker_error(flows[from]));
}

static bool takes_receive(const struct checker_message *message)
{
    return message->kind == CHECKER_SEND || message->immediate;
}

static bool matches(const struct checker_message *message,
                    const struct transport_completion *completion)
{
    return takes_receive(message) && completion->bytes == message->bytes &&
           completion->has_immediate == message->immediate &&
           completion->immediate == message->data &&
           (completion->operation == WORK_RECEIVE) == (message->kind == CHECKER_SEND);
}

/* The receiver was told of the messages that the checker saw arrive, in order, each once. */
static size_t check_receiver(struct world *world, unsigned from, const struct checker *checker,
                             bool quiet)
{
    const struct checker_messages *messages = checker_received(checker);
    size_t at = 0, told = 0, skipped = 0;
    for (size_t i = 0; i < world->completions[!from].count; i++) {
        const struct transport_completion *completion = &world->completions[!from].items[i];
        if (completion->operation < WORK_RECEIVE || completion->status != STATUS_SUCCESS)
            continue;
        while (at < messages->items.count && !matches(&messages->items.items[at], completion))
            if (takes_receive(&messages->items.items[at++]))
                skipped++;
        assert_true(at++ < messages->items.count);
        told++;
    }
    size_t due = 0, least = 0;
    for (size_t i = 0; i < messages->items.count; i++) {
        due += takes_receive(&messages->items.items[i]);
        least += takes_receive(&messages->items.items[i]) && i < checker_acknowledged(checker);
    }
    assert_true(told <= due);
    if (world->pair.service == TRANSPORT_RC) {
        assert_int_equal(skipped, 0);
        assert_true(told >= least);
        assert_true(told == due || !quiet);
    } else { /* without a receive request a message is dropped */
        const struct transport_counters *counters = transport_counters(world->toy.adapters[!from]);
        assert_true(due - told <= counters->no_receive || world->killed[!from]);
    }
    return told;
}

/* The sender's requests complete in order; those that succeed are those that are acknowledged. */
static unsigned check_sender(struct world *world, unsigned from, const struct checker *checker,
                             bool quiet)
{
    unsigned succeeded = 0, next = 0;
    bool failed = false;
    for (size_t i = 0; i < world->completions[from].count; i++) {
        const struct transport_completion *completion = &world->completions[from].items[i];
        if (completion->operation >= WORK_RECEIVE)
            continue;
        assert_int_equal(completion->id, next++);
        if (completion->status != STATUS_SUCCESS) {
            assert_true(!failed || completion->status == STATUS_FLUSHED);
            failed = true;
            continue;
        }
        assert_false(failed);
        succeeded++;
    }
    /* The answers of the last request may reach an end that has failed. */
    if (world->pair.service == TRANSPORT_RC)
        assert_true(succeeded <= checker_acknowledged(checker));
    if (quiet && world->pair.service == TRANSPORT_RC)
        assert_int_equal(succeeded, checker_acknowledged(checker));
    return succeeded;
}

/* Bytes are where they belong: receives, results of READs, and the counter. */
static void check_bytes(const struct world *world, unsigned from, unsigned succeeded, bool quiet)
{
    const struct toy_end *end = &world->ends[from], *peer = &world->ends[!from];
    uint64_t sum = 0, most = 0, counter;
    for (unsigned id = 0, index = 0; id < world->posted[from]; id++) {
        const struct plan *plan = &world->plans[from][id];
        bool done = id < succeeded;
        if (plan->operation == WORK_READ && done)
            assert_memory_equal(end->region.bytes + RESULTS + id * LONGEST,
                                peer->region.bytes + SOURCE + plan->source, plan->bytes);
        sum += plan->operation == WORK_FETCH_ADD && done ? id + 1 : 0;
        most += plan->operation == WORK_FETCH_ADD ? id + 1 : 0;
        bool send = plan->operation <= WORK_SEND_IMMEDIATE;
        if (send && done && world->pair.service == TRANSPORT_RC)
            assert_memory_equal(peer->region.bytes + RECEIVES + index * LONGEST,
                                end->region.bytes + SOURCE + plan->source, plan->bytes);
        index += send || plan->operation == WORK_WRITE_IMMEDIATE;
    }
    memcpy(&counter, peer->region.bytes + COUNTER, 8);
    assert_true(counter >= sum && counter <= most);
    assert_true(counter == most || !quiet);
}

/* The memory for writes is what the acknowledged WRITEs make of it, one after the other. */
static void check_target(struct world *world, unsigned from)
{
    uint8_t *model = mem_zalloc(1, TARGET);
    for (unsigned id = 0; id < world->posted[from]; id++) {
        const struct plan *plan = &world->plans[from][id];
        if (plan->operation == WORK_WRITE || plan->operation == WORK_WRITE_IMMEDIATE)
            memcpy(model + plan->target, world->ends[from].region.bytes + SOURCE + plan->source,
                   plan->bytes);
    }
    assert_memory_equal(world->ends[!from].region.bytes + TARGET, model, TARGET);
    mem_free(model);
}

struct sums {
    uint64_t migrations, runs, quiet, received, naks, timeouts, rnr, duplicates, refused, dropped,
        atomics;
};

static void run_seed(uint64_t seed, struct sums *sums)
{
    struct world world;
    make_world(&world, seed);
    struct checker *flows[2];
    live(&world);
    bool quiet = is_quiet(&world);
    check_trace(&world, flows, quiet);
    for (unsigned from = 0; from < 2; from++) {
        struct checker *checker = flows[from];
        sums->received += check_receiver(&world, from, checker, quiet);
        unsigned succeeded = check_sender(&world, from, checker, quiet);
        check_bytes(&world, from, succeeded, quiet);
        if (quiet && world.pair.service == TRANSPORT_RC) {
            assert_int_equal(succeeded, world.posted[from]);
            check_target(&world, from);
        }
        sums->quiet += quiet;
        sums->refused += checker_was_refused(checker);
        checker_free(checker);
        const struct transport_counters *counters = transport_counters(world.toy.adapters[from]);
        sums->naks += counters->sequence_naks;
        sums->timeouts += counters->timeouts;
        sums->rnr += counters->rnr_naks;
        sums->duplicates += counters->duplicates;
        sums->dropped += counters->messages_dropped;
        sums->migrations += counters->migrations;
    }
    sums->atomics += world.toy.atomics;
    sums->runs++;
    release_world(&world);
}

static void messages_arrive_exactly_once_and_in_order(void **state)
{
    (void)state;
    struct sums sums = {0};
    const char *only = getenv("RANDOM_SEED");
    uint64_t first = only ? strtoull(only, NULL, 10) : 1;
    uint64_t last = only ? first : effort(10000, 1000, 100);
    for (uint64_t seed = first; seed <= last; seed++) {
        if (getenv("RANDOM_TRACE"))
            print_message("seed %llu\n", (unsigned long long)seed);
        run_seed(seed, &sums);
    }
    print_message(
        "%llu runs: %llu messages received, %llu quiet ends, %llu sequence NAKs, %llu RNR "
        "NAKs, %llu time-outs, %llu duplicates, %llu atomics, %llu refused, %llu dropped, "
        "%llu migrations\n",
        (unsigned long long)sums.runs, (unsigned long long)sums.received,
        (unsigned long long)sums.quiet, (unsigned long long)sums.naks, (unsigned long long)sums.rnr,
        (unsigned long long)sums.timeouts, (unsigned long long)sums.duplicates,
        (unsigned long long)sums.atomics, (unsigned long long)sums.refused,
        (unsigned long long)sums.dropped, (unsigned long long)sums.migrations);
    if (!only) /* the runs have seen everything */
        assert_true(sums.naks && sums.timeouts && sums.rnr && sums.duplicates && sums.atomics &&
                    sums.refused && sums.dropped && sums.migrations && sums.quiet > sums.runs / 2);
}

/* ---- does the checker find what is wrong? ---- */

enum fault {
    LOST_ARRIVAL,
    WRONG_MSN,
    WRONG_LENGTH,
    WRONG_PSN,
    EARLY_ACK,
    NAK_TWICE,
    WRONG_KEY,
    FAULTS
};

static bool suits(const struct toy_trace *item, enum fault fault)
{
    const struct transport_packet *packet = &item->packet;
    unsigned operation = transport_operation_of(packet->opcode), kind = packet->syndrome >> 5;
    bool request = !(transport_parts_of(packet->opcode) & PART_RESPONSE);
    switch (fault) {
    case LOST_ARRIVAL: return request && !item->sent;
    case WRONG_MSN:
    case EARLY_ACK: return operation == OP_ACKNOWLEDGE && kind == 0 && item->sent;
    case WRONG_LENGTH:
    case WRONG_PSN: return request && item->sent;
    case NAK_TWICE: return operation == OP_ACKNOWLEDGE && kind == 3 && item->sent;
    default: return operation == OP_WRITE_ONLY && !item->sent;
    }
}

/* What arrives again hides that it was lost. */
static bool arrives_once(const struct world *world, const struct toy_trace *item)
{
    unsigned times = 0;
    for (size_t i = 0; i < world->toy.trace.count; i++) {
        const struct toy_trace *other = &world->toy.trace.items[i];
        times += of_flow(other, 0) && !other->sent && other->adapter == item->adapter &&
                 other->packet.psn == item->packet.psn;
    }
    return item->sent || times == 1;
}

/* The nth packet that suits a fault; TRANSPORT_NONE: there is none. */
static size_t find_suitable(const struct world *world, enum fault fault, uint64_t nth)
{
    for (size_t i = 0; i < world->toy.trace.count; i++) {
        const struct toy_trace *item = &world->toy.trace.items[i];
        if (of_flow(item, 0) && suits(item, fault) && arrives_once(world, item) && nth-- == 0)
            return i;
    }
    return TRANSPORT_NONE;
}

/* A wrong key is wrong wherever the packet is seen. */
static void apply(struct toy_trace *item, enum fault fault, bool chosen, uint32_t psn)
{
    bool write = transport_operation_of(item->packet.opcode) == OP_WRITE_ONLY;
    item->packet.r_key += fault == WRONG_KEY && write && item->packet.psn == psn;
    if (!chosen)
        return;
    item->packet.msn += fault == WRONG_MSN;
    item->packet.payload.bytes += fault == WRONG_LENGTH;
    item->packet.psn =
        (item->packet.psn + (fault == WRONG_PSN || fault == EARLY_ACK)) & TRANSPORT_PSN_MASK;
}

/* Shows the trace of one flow with a fault in one packet; whether the checker finds it. */
static bool found_fault(const struct world *world, enum fault fault, size_t chosen)
{
    struct checker *checker = new_checker(world, 0);
    uint32_t psn = world->toy.trace.items[chosen].packet.psn;
    bool found = false;
    for (size_t i = 0; i < world->toy.trace.count && !found; i++) {
        struct toy_trace item = world->toy.trace.items[i];
        if (!of_flow(&item, 0) || (i == chosen && fault == LOST_ARRIVAL))
            continue;
        apply(&item, fault, i == chosen, psn);
        found = !show(checker, &item, 0) ||
                (i == chosen && fault == NAK_TWICE && !show(checker, &item, 0));
    }
    found = found || !checker_finish(checker);
    checker_free(checker);
    return found;
}

static void the_checker_finds_what_breaks_a_rule(void **state)
{
    (void)state;
    unsigned tried[FAULTS] = {0}, found[FAULTS] = {0};
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct world world;
        make_world(&world, seed);
        /* Only sequence NAKs need losses; what a loss repeats hides other faults. */
        world.toy.loss = seed % 2 ? RNG_CERTAIN / 20 : 0;
        world.toy.duplicates = world.toy.reorder = 0;
        if (world.pair.service == TRANSPORT_RC)
            live(&world);
        for (unsigned fault = 0; fault < FAULTS && world.toy.trace.count; fault++) {
            size_t chosen = find_suitable(&world, fault, pick(&world, 5));
            if ((fault == NAK_TWICE) != (seed % 2) || !is_quiet(&world) || chosen == TRANSPORT_NONE)
                continue;
            tried[fault]++;
            found[fault] += found_fault(&world, fault, chosen);
        }
        release_world(&world);
    }
    for (unsigned fault = 0; fault < FAULTS; fault++) {
        print_message("fault %u: %u of %u found\n", fault, found[fault], tried[fault]);
        assert_true(tried[fault] >= 5);
        assert_int_equal(found[fault], tried[fault]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_checker_finds_what_breaks_a_rule),
        cmocka_unit_test(messages_arrive_exactly_once_and_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
