/* weft route --published: steps and CPU times of the algorithms as TPDS 2006 describes them.
 *
 * A manager computes routes once for a topology. Many runs on one network in a row would not
 * measure that: the processor learns the outcomes of their branches, and FERa appears two to four
 * times faster than it is. So networks and algorithms take turns. */
#include "base/mem.h"
#include "base/time.h"
#include "cli/command.h"
#include "cli/routing.h"
#include "routing/paper/published.h"
#include "routing/search/roots.h"

#include <time.h>

struct timed_network {
    const char *path;
    struct network network;
    struct updown updown;
    struct published published;
    uint64_t *ns; /* [engine * rounds + round] */
    uint64_t *steps;
};
struct timed_networks {
    VEC(struct timed_network);
};

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static int add_network(struct timed_networks *networks, const char *path,
                       const struct engine_list *engines, const struct engine_options *options,
                       const struct published_options *wanted, struct err *err)
{
    struct timed_network timed = {.path = path};
    struct roots roots = {0};
    int status = load_network(path, wanted->lmc, false, NULL, &timed.network, err);
    if (status == 0)
        status = roots_choose(&roots, &timed.network, options, ROOT_MANAGER, err);
    if (status) {
        network_release(&timed.network);
    } else {
        updown_init(&timed.updown, &timed.network, roots.switches.items, roots.switches.count,
                    options->tree);
        published_init(&timed.published, &timed.network, &timed.updown);
        timed.ns = mem_zalloc(engines->count * wanted->rounds, sizeof *timed.ns);
        timed.steps = mem_zalloc(engines->count, sizeof *timed.steps);
        vec_push(networks, timed);
    }
    roots_release(&roots);
    return status;
}

/* Returns the time of reading the clock. */
static uint64_t time_rounds(struct timed_networks *networks, const struct engine_list *engines,
                            size_t rounds)
{
    uint64_t *of_clock = mem_zalloc(rounds, sizeof *of_clock);
    for (size_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < networks->count; i++)
            for (size_t e = 0; e < engines->count; e++) {
                struct timed_network *timed = &networks->items[i];
                uint64_t begin = cpu_ns();
                published_run(&timed->published, engines->items[e]);
                timed->ns[e * rounds + round] = cpu_ns() - begin;
                timed->steps[e] = timed->published.steps;
            }
        uint64_t begin = cpu_ns();
        of_clock[round] = cpu_ns() - begin;
    }
    sort_u64(of_clock, rounds);
    uint64_t median = of_clock[rounds / 2];
    mem_free(of_clock);
    return median;
}

static void put_times(struct record *record, struct timed_network *timed,
                      const struct engine_list *engines, size_t rounds, uint64_t of_clock)
{
    for (size_t e = 0; e < engines->count; e++) {
        sort_u64(timed->ns + e * rounds, rounds);
        uint64_t ns = timed->ns[e * rounds + rounds / 2];
        record_begin(record, NULL);
        record_string(record, "net", "%s: ", timed->path);
        record_string(record, "engine", "%s ", engines->items[e]->name);
        record_number(record, "steps", "%llu steps", timed->steps[e]);
        record_real(record, "cpu_s", ", %.9f s of CPU time\n",
                    (double)(ns - (ns > of_clock ? of_clock : 0)) / NS_PER_S);
        record_end(record);
    }
}

int route_published(const struct engine_list *engines, const struct engine_options *options,
                    const struct published_options *wanted, char **nets, struct err *err)
{
    struct timed_networks networks = {0};
    struct text text = {0};
    struct record record = record_to(&text, wanted->json, true);
    int status = 0;
    for (; *nets && status == 0; nets++)
        status = add_network(&networks, *nets, engines, options, wanted, err);
    if (status == 0) {
        uint64_t of_clock = time_rounds(&networks, engines, wanted->rounds);
        record_begin_list(&record, NULL);
        for (size_t i = 0; i < networks.count; i++)
            put_times(&record, &networks.items[i], engines, wanted->rounds, of_clock);
        record_end_list(&record);
        status = command_print(&text);
    }
    for (size_t i = 0; i < networks.count; i++) {
        struct timed_network *timed = &networks.items[i];
        mem_free(timed->ns);
        mem_free(timed->steps);
        published_release(&timed->published);
        updown_release(&timed->updown);
        network_release(&timed->network);
    }
    vec_release(&networks);
    return status;
}
