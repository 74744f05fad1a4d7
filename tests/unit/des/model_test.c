/* The event queue against a plain list that is searched from end to end for the smallest (time,
 * kind, a, sequence), with random delays. */
#include "assert_event.h"

#include "base/mem.h"
#include "base/rng.h"
#include "des/des.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct listed {
    uint64_t time, number; /* numbers rise as events are scheduled */
    struct event event;
    des_handle handle;
};
struct model {
    struct des *des;
    VEC(struct listed) waiting;
    VEC(des_handle) stale;
    uint64_t now, numbers;
    struct rng rng;
    uint64_t (*delay)(struct rng *rng);
};

static bool is_listed_before(const struct listed *a, const struct listed *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    uint64_t order_a = des_order(a->time, a->event), order_b = des_order(b->time, b->event);
    return order_a != order_b ? order_a < order_b : a->number < b->number;
}

static size_t model_next(const struct model *model)
{
    size_t next = 0;
    const struct listed *listed = model->waiting.items;
    for (size_t i = 1; i < model->waiting.count; i++)
        if (is_listed_before(&listed[i], &listed[next]))
            next = i;
    return next;
}

static void model_remove(struct model *model, size_t at)
{
    vec_push(&model->stale, model->waiting.items[at].handle);
    model->waiting.items[at] = model->waiting.items[--model->waiting.count];
}

static void model_schedule(struct model *model)
{
    uint64_t delay = model->delay(&model->rng);
    struct listed listed = {.time = model->now + delay, .number = model->numbers++};
    listed.event = (struct event){(uint32_t)rng_below(&model->rng, 3),
                                  (uint32_t)rng_below(&model->rng, 4), listed.number};
    listed.handle = des_schedule(model->des, listed.time, listed.event);
    assert_true(listed.handle != 0);
    vec_push(&model->waiting, listed);
}

static void model_cancel(struct model *model, size_t at)
{
    assert_true(des_cancel(model->des, model->waiting.items[at].handle));
    model_remove(model, at);
}

static void model_pop(struct model *model, uint64_t until)
{
    struct event event;
    bool popped = des_pop(model->des, until, &event);
    size_t next = model_next(model);
    if (!model->waiting.count || model->waiting.items[next].time > until) {
        assert_false(popped);
        if (until != TIME_NEVER)
            model->now = until;
    } else {
        assert_true(popped);
        assert_event(event, model->waiting.items[next].event);
        model->now = model->waiting.items[next].time;
        model_remove(model, next);
    }
    assert_true(des_now(model->des) == model->now);
}

/* One random deed; `bias` makes the queue grow (above 50) or drain. */
static void model_step(struct model *model, unsigned bias)
{
    unsigned choice = (unsigned)rng_below(&model->rng, 100);
    size_t count = model->waiting.count;
    if (rng_below(&model->rng, 100) < bias)
        model_schedule(model);
    else if (choice < 45)
        model_pop(model, TIME_NEVER);
    else if (choice < 65)
        model_pop(model, model->now + model->delay(&model->rng) / 16);
    else if (choice < 85 && count)
        model_cancel(model, rng_below(&model->rng, count));
    else if (choice < 90 && count)
        model_cancel(model, model_next(model));
    else if (model->stale.count)
        assert_false(
            des_cancel(model->des, model->stale.items[rng_below(&model->rng, model->stale.count)]));
    if (choice % 4 == 0)
        assert_true(
            des_next_time(model->des) ==
            (model->waiting.count ? model->waiting.items[model_next(model)].time : TIME_NEVER));
    assert_int_equal(des_pending(model->des), model->waiting.count);
}

static void check_against_list(uint64_t (*delay)(struct rng *rng))
{
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct model model = {.des = des_new(), .delay = delay};
        rng_seed(&model.rng, seed, 0);
        for (unsigned phase = 0; phase < 12; phase++)
            for (unsigned i = 0; i < 1000; i++)
                model_step(&model, phase % 3 == 0 ? 80 : phase % 3 == 1 ? 50 : 20);
        while (model.waiting.count)
            model_pop(&model, TIME_NEVER);
        model_pop(&model, TIME_NEVER);
        des_free(model.des);
        vec_release(&model.waiting);
        vec_release(&model.stale);
    }
}

static uint64_t uniform_delay(struct rng *rng)
{
    return rng_below(rng, TIME_US);
}

static uint64_t any_magnitude_delay(struct rng *rng)
{
    return rng_next(rng) >> (20 + rng_below(rng, 44));
}

static uint64_t near_or_far_delay(struct rng *rng)
{
    return rng_below(rng, 4) ? rng_below(rng, 100) : TIME_S + rng_below(rng, TIME_S);
}

static uint64_t clocked_delay(struct rng *rng)
{
    return rng_below(rng, 4) * TIME_US;
}

static uint64_t tiny_delay(struct rng *rng)
{
    return rng_below(rng, 3);
}

static void uniform_delays_agree_with_a_plain_list(void **state)
{
    check_against_list(uniform_delay);
}

static void delays_of_any_magnitude_agree_with_a_plain_list(void **state)
{
    check_against_list(any_magnitude_delay);
}

static void near_and_far_delays_agree_with_a_plain_list(void **state)
{
    check_against_list(near_or_far_delay);
}

static void delays_of_a_common_clock_agree_with_a_plain_list(void **state)
{
    check_against_list(clocked_delay);
}

static void tiny_delays_agree_with_a_plain_list(void **state)
{
    check_against_list(tiny_delay);
}

/* FIFOs and the heap against a plain list. Most events come in the order of a FIFO, some do not;
 * no two have the same time, kind and place. */
struct posted {
    uint64_t time;
    struct event event;
};

static bool is_posted_before(const struct posted *a, const struct posted *b)
{
    return a->time != b->time ? a->time < b->time
                              : des_order(a->time, a->event) < des_order(b->time, b->event);
}

static void fifos_agree_with_a_plain_list(void **state)
{
    VEC(struct posted) list = {0};
    struct des *des = des_new();
    struct rng rng;
    rng_seed(&rng, 5, 0);
    for (uint32_t number = 0; number < 40000; number++) {
        unsigned fifo = (unsigned)rng_below(&rng, DES_FIFOS + 1);
        uint64_t delay = fifo * 3 + (rng_below(&rng, 8) ? 0 : rng_below(&rng, 400));
        uint64_t time = des_now(des) + delay;
        struct event event = {fifo < DES_FIFOS ? fifo : (uint32_t)rng_below(&rng, DES_FIFOS + 2),
                              number * 2654435761u, number};
        if (fifo < DES_FIFOS)
            des_post_fifo(des, fifo, time, event);
        else
            des_post(des, time, event);
        vec_push(&list, ((struct posted){time, event}));
        while (list.count > rng_below(&rng, 200)) {
            size_t first = 0;
            for (size_t i = 1; i < list.count; i++)
                if (is_posted_before(&list.items[i], &list.items[first]))
                    first = i;
            assert_int_equal(des_next_time(des), list.items[first].time);
            assert_int_equal(des_pending(des), list.count);
            assert_true(des_pop(des, TIME_NEVER, &event));
            assert_event(event, list.items[first].event);
            assert_int_equal(des_now(des), list.items[first].time);
            list.items[first] = list.items[--list.count];
        }
    }
    des_free(des);
    vec_release(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uniform_delays_agree_with_a_plain_list),
        cmocka_unit_test(delays_of_any_magnitude_agree_with_a_plain_list),
        cmocka_unit_test(near_and_far_delays_agree_with_a_plain_list),
        cmocka_unit_test(delays_of_a_common_clock_agree_with_a_plain_list),
        cmocka_unit_test(tiny_delays_agree_with_a_plain_list),
        cmocka_unit_test(fifos_agree_with_a_plain_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
