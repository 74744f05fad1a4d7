/* Blocks: those that differ are written once, and equal contents are stored once. */
#include "base/rng.h"
#include "subnet/blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const uint8_t *content(unsigned number)
{
    static uint8_t data[4][BLOCK_BYTES];
    static unsigned turn;
    uint8_t *block = data[turn++ % 4];
    memset(block, 0, BLOCK_BYTES);
    block[0] = (uint8_t)number;
    block[BLOCK_BYTES - 1] = (uint8_t)(number + 1);
    return block;
}

static void assert_block(const uint8_t *block, unsigned number)
{
    assert_non_null(block);
    assert_memory_equal(block, content(number), BLOCK_BYTES);
}

static uint32_t contents_in_use(const struct blocks *blocks)
{
    uint32_t count = 0;
    for (size_t i = 0; i < blocks->contents.count; i++)
        count += blocks->contents.items[i].uses != 0;
    return count;
}

static void a_wanted_block_is_taken_once_and_confirmed(void **state)
{
    struct blocks blocks = {0};
    blocks_want(&blocks, 7, BLOCK_SL2VL, 3, content(1));
    assert_block(blocks_wanted(&blocks, 7, BLOCK_SL2VL, 3), 1);
    assert_null(blocks_actual(&blocks, 7, BLOCK_SL2VL, 3));
    assert_null(blocks_wanted(&blocks, 7, BLOCK_SL2VL, 2));
    assert_null(blocks_wanted(&blocks, 7, BLOCK_PARTITIONS, 3));
    assert_null(blocks_wanted(&blocks, 6, BLOCK_SL2VL, 3));
    assert_false(blocks_port_is_settled(&blocks, 7));
    assert_true(blocks_port_is_settled(&blocks, 6));
    assert_true(blocks_port_is_settled(&blocks, 8));
    uint32_t row = blocks_take(&blocks);
    assert_int_equal(blocks.rows.items[row].port, 7);
    assert_int_equal(blocks.rows.items[row].kind, BLOCK_SL2VL);
    assert_int_equal(blocks.rows.items[row].part, 3);
    assert_int_equal(blocks_take(&blocks), BLOCKS_NONE);
    blocks_set_actual(&blocks, row, content(1));
    assert_block(blocks_actual(&blocks, 7, BLOCK_SL2VL, 3), 1);
    assert_true(blocks_port_is_settled(&blocks, 7));
    blocks_want(&blocks, 7, BLOCK_SL2VL, 3, content(1));
    assert_int_equal(blocks_take(&blocks), BLOCKS_NONE);
    blocks_release(&blocks);
}

static void blocks_are_taken_in_the_order_of_changes(void **state)
{
    struct blocks blocks = {0};
    for (unsigned i = 0; i < 100; i++)
        blocks_want(&blocks, (i * 37) % 100, BLOCK_PARTITIONS, 0, content(i));
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(blocks.rows.items[blocks_take(&blocks)].port, (i * 37) % 100);
    assert_int_equal(blocks_take(&blocks), BLOCKS_NONE);
    blocks_release(&blocks);
}

static void a_block_that_changes_while_it_is_written_is_written_again(void **state)
{
    struct blocks blocks = {0};
    blocks_want(&blocks, 1, BLOCK_ARBITRATION, 1, content(1));
    uint32_t row = blocks_take(&blocks);
    blocks_want(&blocks, 1, BLOCK_ARBITRATION, 1, content(2));
    assert_int_equal(blocks_take(&blocks), BLOCKS_NONE); /* one at a time */
    blocks_set_actual(&blocks, row, content(1));
    assert_false(blocks_port_is_settled(&blocks, 1));
    assert_int_equal(blocks_take(&blocks), row);
    assert_block(blocks_content(&blocks, blocks.rows.items[row].wanted), 2);
    blocks_set_actual(&blocks, row, content(2));
    assert_true(blocks_port_is_settled(&blocks, 1));
    blocks_release(&blocks);
}

static void a_refused_block_is_not_written_until_it_changes(void **state)
{
    struct blocks blocks = {0};
    blocks_want(&blocks, 1, BLOCK_SL2VL, 0, content(1));
    blocks_refuse(&blocks, blocks_take(&blocks));
    assert_true(blocks_port_is_settled(&blocks, 1));
    blocks_want(&blocks, 1, BLOCK_SL2VL, 0, content(1));
    assert_int_equal(blocks_take(&blocks), BLOCKS_NONE);
    blocks_want(&blocks, 1, BLOCK_SL2VL, 0, content(2));
    assert_false(blocks_port_is_settled(&blocks, 1));
    assert_int_not_equal(blocks_take(&blocks), BLOCKS_NONE);
    blocks_release(&blocks);
}

static void refusing_the_old_content_does_not_refuse_the_new_one(void **state)
{
    struct blocks blocks = {0};
    blocks_want(&blocks, 1, BLOCK_SL2VL, 0, content(1));
    uint32_t row = blocks_take(&blocks);
    blocks_want(&blocks, 1, BLOCK_SL2VL, 0, content(2));
    blocks_refuse(&blocks, row);
    assert_false(blocks_port_is_settled(&blocks, 1));
    assert_int_equal(blocks_take(&blocks), row);
    blocks_refuse(&blocks, row);
    assert_int_equal(blocks_take(&blocks), BLOCKS_NONE);
    blocks_release(&blocks);
}

static void a_block_without_answer_is_written_again(void **state)
{
    struct blocks blocks = {0};
    blocks_set_known(&blocks, 1, BLOCK_PARTITIONS, 0, content(5));
    blocks_want(&blocks, 1, BLOCK_PARTITIONS, 0, content(1));
    uint32_t row = blocks_take(&blocks);
    blocks_set_actual(&blocks, row, NULL);
    assert_null(blocks_actual(&blocks, 1, BLOCK_PARTITIONS, 0));
    assert_false(blocks_port_is_settled(&blocks, 1));
    assert_int_equal(blocks_take(&blocks), row);
    blocks_release(&blocks);
}

static void a_forgotten_port_is_written_again_and_no_other(void **state)
{
    struct blocks blocks = {0};
    for (uint32_t port = 0; port < 3; port++)
        for (unsigned kind = 0; kind < BLOCK_KINDS; kind++)
            blocks_want(&blocks, port, kind, 0, content(kind));
    for (uint32_t row; (row = blocks_take(&blocks)) != BLOCKS_NONE;)
        blocks_set_actual(&blocks, row, blocks_content(&blocks, blocks.rows.items[row].wanted));
    blocks_forget(&blocks, 1);
    blocks_forget(&blocks, 77);
    assert_false(blocks_port_is_settled(&blocks, 1));
    unsigned taken = 0;
    for (uint32_t row; (row = blocks_take(&blocks)) != BLOCKS_NONE; taken++)
        assert_int_equal(blocks.rows.items[row].port, 1);
    assert_int_equal(taken, BLOCK_KINDS);
    blocks_release(&blocks);
}

static void unwanted_blocks_are_not_written(void **state)
{
    struct blocks blocks = {0};
    blocks_want(&blocks, 1, BLOCK_PARTITIONS, 0, content(1));
    blocks_want_nothing(&blocks, 1, BLOCK_PARTITIONS, 0);
    blocks_want_nothing(&blocks, 1, BLOCK_PARTITIONS, 9);
    assert_true(blocks_port_is_settled(&blocks, 1));
    assert_int_equal(blocks_take(&blocks), BLOCKS_NONE);
    assert_int_equal(contents_in_use(&blocks), 0);
    blocks_forget(&blocks, 1);
    assert_int_equal(blocks_take(&blocks), BLOCKS_NONE);
    blocks_release(&blocks);
}

static void blocks_with_the_wanted_content_are_not_written(void **state)
{
    struct blocks blocks = {0};
    blocks_set_known(&blocks, 1, BLOCK_PARTITIONS, 0, content(1));
    assert_int_equal(blocks_take(&blocks), BLOCKS_NONE);
    blocks_want(&blocks, 1, BLOCK_PARTITIONS, 0, content(1));
    assert_true(blocks_port_is_settled(&blocks, 1));
    assert_int_equal(blocks_take(&blocks), BLOCKS_NONE);
    blocks_set_known(&blocks, 1, BLOCK_PARTITIONS, 0, content(2)); /* another manager wrote it */
    assert_int_not_equal(blocks_take(&blocks), BLOCKS_NONE);
    blocks_release(&blocks);
}

static void multicast_blocks_do_not_delay_a_port(void **state)
{
    struct blocks blocks = {0};
    blocks_want(&blocks, 1, BLOCK_MULTICAST, 511 | 15 << 9, content(1));
    assert_true(blocks_port_is_settled(&blocks, 1));
    assert_int_equal(blocks.rows.items[blocks_take(&blocks)].part, 511 | 15 << 9);
    blocks_release(&blocks);
}

static void equal_contents_are_stored_once(void **state)
{
    struct blocks blocks = {0};
    for (uint32_t port = 0; port < 1000; port++)
        blocks_want(&blocks, port, BLOCK_SL2VL, port % 7, content(port % 3));
    for (uint32_t row; (row = blocks_take(&blocks)) != BLOCKS_NONE;)
        blocks_set_actual(&blocks, row, blocks_content(&blocks, blocks.rows.items[row].wanted));
    assert_int_equal(contents_in_use(&blocks), 3);
    assert_int_equal(blocks.contents.count, 3);
    for (uint32_t port = 0; port < 1000; port++)
        blocks_want(&blocks, port, BLOCK_SL2VL, port % 7, content(9));
    for (uint32_t row; (row = blocks_take(&blocks)) != BLOCKS_NONE;)
        blocks_set_actual(&blocks, row, content(9));
    assert_int_equal(contents_in_use(&blocks), 1);
    blocks_release(&blocks);
}

static void the_content_of_one_block_may_be_wanted_of_another(void **state)
{
    struct blocks blocks = {0};
    blocks_want(&blocks, 0, BLOCK_SL2VL, 0, content(0));
    for (uint32_t port = 1; port < 100; port++) {
        blocks_want(&blocks, port, BLOCK_SL2VL, 0, content(port)); /* the pool grows and moves */
        blocks_want(&blocks, port, BLOCK_SL2VL, 0,
                    blocks_wanted(&blocks, port - 1, BLOCK_SL2VL, 0));
        assert_block(blocks_wanted(&blocks, port, BLOCK_SL2VL, 0), 0);
    }
    assert_int_equal(contents_in_use(&blocks), 1);
    blocks_release(&blocks);
}

static void generations_count_known_p_keys_only(void **state)
{
    struct blocks blocks = {0};
    blocks_want(&blocks, 1, BLOCK_PARTITIONS, 0, content(1));
    assert_int_equal(blocks.keys_generation, 0);
    blocks_set_actual(&blocks, blocks_take(&blocks), content(1));
    assert_int_equal(blocks.keys_generation, 1);
    blocks_set_known(&blocks, 1, BLOCK_PARTITIONS, 0, content(1));
    blocks_set_known(&blocks, 1, BLOCK_SL2VL, 0, content(1));
    assert_int_equal(blocks.keys_generation, 1);
    blocks_forget(&blocks, 1);
    assert_int_equal(blocks.keys_generation, 2);
    blocks_release(&blocks);
}

/* ---- comparison with a simple model ---- */

enum { PORTS = 5, PARTS = 3, CONTENTS = 6, UNKNOWN = 99, MODEL = PORTS * BLOCK_KINDS * PARTS };

struct model {
    uint8_t wanted, actual, written; /* written: in progress; UNKNOWN: none */
    bool refused;
};

struct trial {
    struct blocks blocks;
    struct model model[MODEL];
    uint32_t row_of[MODEL]; /* being written */
    struct rng rng;
};

static unsigned pick(struct trial *trial, unsigned bound)
{
    return (unsigned)rng_below(&trial->rng, bound);
}

static uint32_t port_of(unsigned index)
{
    return index / (BLOCK_KINDS * PARTS);
}

static enum block_kind kind_of(unsigned index)
{
    return (enum block_kind)(index / PARTS % BLOCK_KINDS);
}

static unsigned index_of(const struct block *block)
{
    return (block->port * BLOCK_KINDS + block->kind) * PARTS + block->part;
}

static bool model_differs(const struct model *model)
{
    return model->wanted != UNKNOWN && model->wanted != model->actual && !model->refused;
}

static void check_block(const uint8_t *block, unsigned number)
{
    if (number == UNKNOWN)
        assert_null(block);
    else
        assert_block(block, number);
}

static void check(const struct trial *trial)
{
    unsigned unsettled[PORTS] = {0}, used = 0;
    bool in_use[CONTENTS] = {false};
    for (unsigned i = 0; i < MODEL; i++) {
        const struct model *model = &trial->model[i];
        check_block(blocks_wanted(&trial->blocks, port_of(i), kind_of(i), i % PARTS),
                    model->wanted);
        check_block(blocks_actual(&trial->blocks, port_of(i), kind_of(i), i % PARTS),
                    model->actual);
        if (kind_of(i) != BLOCK_MULTICAST && kind_of(i) != BLOCK_GUIDS)
            unsettled[port_of(i)] += model_differs(model);
        if (model->wanted != UNKNOWN)
            in_use[model->wanted] = true;
        if (model->actual != UNKNOWN)
            in_use[model->actual] = true;
    }
    for (unsigned i = 0; i < CONTENTS; i++)
        used += in_use[i];
    assert_int_equal(contents_in_use(&trial->blocks), used);
    assert_true(trial->blocks.contents.count <= CONTENTS + 1);
    for (uint32_t port = 0; port < PORTS; port++)
        assert_int_equal(blocks_port_is_settled(&trial->blocks, port), unsettled[port] == 0);
}

static void step_taking(struct trial *trial)
{
    uint32_t row = blocks_take(&trial->blocks);
    if (row == BLOCKS_NONE) {
        for (unsigned i = 0; i < MODEL; i++)
            assert_true(!model_differs(&trial->model[i]) || trial->model[i].written != UNKNOWN);
        return;
    }
    unsigned index = index_of(&trial->blocks.rows.items[row]);
    assert_true(model_differs(&trial->model[index]));
    assert_int_equal(trial->model[index].written, UNKNOWN);
    trial->model[index].written = trial->model[index].wanted;
    trial->row_of[index] = row;
}

static void step_ending(struct trial *trial, unsigned index)
{
    struct model *model = &trial->model[index];
    if (model->written == UNKNOWN)
        return;
    switch (pick(trial, 4)) {
    case 0:
        blocks_refuse(&trial->blocks, trial->row_of[index]);
        if (model->wanted == model->written)
            model->refused = true;
        break;
    case 1:
        blocks_set_actual(&trial->blocks, trial->row_of[index], NULL);
        model->actual = UNKNOWN;
        break;
    default:
        blocks_set_actual(&trial->blocks, trial->row_of[index], content(model->written));
        model->actual = model->written;
    }
    model->written = UNKNOWN;
}

/* Not tested: a wanted content that changes and changes back while it is written. */
static void step_wanting(struct trial *trial, unsigned index)
{
    struct model *model = &trial->model[index];
    unsigned number = pick(trial, CONTENTS);
    if (model->written != UNKNOWN && number == model->written && model->wanted != number)
        return;
    blocks_want(&trial->blocks, port_of(index), kind_of(index), index % PARTS, content(number));
    if (model->wanted != number)
        model->refused = false;
    model->wanted = (uint8_t)number;
}

static void step(struct trial *trial)
{
    unsigned index = pick(trial, MODEL), number = pick(trial, CONTENTS);
    struct model *model = &trial->model[index];
    switch (pick(trial, 8)) {
    case 0:
    case 1: step_wanting(trial, index); break;
    case 2:
        blocks_want_nothing(&trial->blocks, port_of(index), kind_of(index), index % PARTS);
        model->wanted = UNKNOWN;
        break;
    case 3:
        if (model->written != UNKNOWN)
            break;
        blocks_set_known(&trial->blocks, port_of(index), kind_of(index), index % PARTS,
                         content(number));
        model->actual = (uint8_t)number;
        break;
    case 4:
        if (pick(trial, 10))
            break;
        blocks_forget(&trial->blocks, port_of(index));
        for (unsigned i = 0; i < MODEL; i++)
            if (port_of(i) == port_of(index)) {
                trial->model[i].actual = UNKNOWN;
                trial->model[i].refused = false;
            }
        break;
    case 5: step_ending(trial, index); break;
    default: step_taking(trial);
    }
}

static void any_history_ends_as_in_the_model(void **state)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct trial trial = {0};
        rng_seed(&trial.rng, seed, 0);
        for (unsigned i = 0; i < MODEL; i++)
            trial.model[i] = (struct model){UNKNOWN, UNKNOWN, UNKNOWN, false};
        for (unsigned i = 0; i < 2000; i++) {
            step(&trial);
            check(&trial);
        }
        for (unsigned i = 0; i < MODEL; i++)
            step_ending(&trial, i);
        for (unsigned i = 0; i < 10 * MODEL; i++) { /* all blocks are confirmed in the end */
            step_taking(&trial);
            for (unsigned j = 0; j < MODEL; j++)
                if (trial.model[j].written != UNKNOWN) {
                    blocks_set_actual(&trial.blocks, trial.row_of[j],
                                      content(trial.model[j].written));
                    trial.model[j].actual = trial.model[j].written;
                    trial.model[j].written = UNKNOWN;
                }
        }
        check(&trial);
        for (uint32_t port = 0; port < PORTS; port++)
            assert_true(blocks_port_is_settled(&trial.blocks, port));
        blocks_release(&trial.blocks);
    }
}

static void all_blocks_of_a_port_can_be_listed(void **state)
{
    struct blocks blocks = {0};
    unsigned seen = 0;
    for (uint32_t port = 0; port < 4; port++)
        for (unsigned part = 0; part < 5; part++)
            blocks_want(&blocks, port, BLOCK_SL2VL, part, content(part));
    for (uint32_t row = blocks_next_of_port(&blocks, 2, BLOCKS_NONE); row != BLOCKS_NONE;
         row = blocks_next_of_port(&blocks, 2, row)) {
        assert_int_equal(blocks.rows.items[row].port, 2);
        seen |= 1u << blocks.rows.items[row].part;
    }
    assert_int_equal(seen, 0x1F);
    assert_int_equal(blocks_next_of_port(&blocks, 4, BLOCKS_NONE), BLOCKS_NONE);
    blocks_release(&blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wanted_block_is_taken_once_and_confirmed),
        cmocka_unit_test(blocks_are_taken_in_the_order_of_changes),
        cmocka_unit_test(a_block_that_changes_while_it_is_written_is_written_again),
        cmocka_unit_test(a_refused_block_is_not_written_until_it_changes),
        cmocka_unit_test(refusing_the_old_content_does_not_refuse_the_new_one),
        cmocka_unit_test(a_block_without_answer_is_written_again),
        cmocka_unit_test(a_forgotten_port_is_written_again_and_no_other),
        cmocka_unit_test(unwanted_blocks_are_not_written),
        cmocka_unit_test(blocks_with_the_wanted_content_are_not_written),
        cmocka_unit_test(multicast_blocks_do_not_delay_a_port),
        cmocka_unit_test(equal_contents_are_stored_once),
        cmocka_unit_test(the_content_of_one_block_may_be_wanted_of_another),
        cmocka_unit_test(generations_count_known_p_keys_only),
        cmocka_unit_test(any_history_ends_as_in_the_model),
        cmocka_unit_test(all_blocks_of_a_port_can_be_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
