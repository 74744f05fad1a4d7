/* The audit of a copy: a manager that took over with a copy of the subnet (standby_copy.c) reads
 * all tables when it is up, one switch after the other, at the pace at which the copy was made. A
 * block that is not what the copy says means that the last master died in the middle of a change:
 * then routes are planned from what is really there. Ports are read by the full sweep that goes
 * with it.
 */
#include "sm/internal.h"

#include <assert.h>
#include <string.h>

struct audit {
    bool due; /* with the next sweep */
    bool running;
    uint32_t cursor, under_way;
    uint64_t next_at;
};

struct audit *audit_new(void)
{
    return mem_zalloc(1, sizeof(struct audit));
}

void audit_request(struct sm *sm)
{
    sm->audit->due = true;
}

/* The requests of one under way were forgotten, and what it is about is read again. */
void audit_requests_dropped(struct sm *sm)
{
    *sm->audit = (struct audit){0};
}

static request_ended audit_block_ended;
static request_answered audit_block_read;
static const struct request_kind audit_block = {
    .name = "LinearForwardingTable",
    .attribute = ATTRIBUTE_LINEAR_FORWARDING_TABLE,
    .counter = offsetof(struct sm_counts, tables),
    .ended = audit_block_ended,
    .answered = audit_block_read,
};

bool audit_begin(struct sm *sm, uint64_t now)
{
    if (!sm->audit->due)
        return false;
    *sm->audit = (struct audit){.running = true, .next_at = now};
    return true;
}

static void read_blocks(struct sm *sm, uint32_t node, unsigned blocks)
{
    for (unsigned block = 0; block < blocks; block++) {
        struct request *request = sm_request(
            sm, &audit_block, (union request_subject){.table = {.node = node, .block = block}},
            node_at(sm, node)->first_port);
        request->modifier = block;
        sm->audit->under_way++;
        sm_submit(sm, request, PRIORITY_NONE);
    }
}

uint64_t audit_deadline(const struct sm *sm)
{
    const struct audit *audit = sm->audit;
    return audit->running && !audit->under_way && sm_is_settled(sm) ? audit->next_at : TIME_NEVER;
}

void audit_advance(struct sm *sm, uint64_t now)
{
    struct audit *audit = sm->audit;
    if (now < audit_deadline(sm))
        return;
    for (; audit->cursor < sm->subnet.nodes.count; audit->cursor++) {
        const struct subnet_node *node = node_at(sm, audit->cursor);
        if (!node->present || !node->tables || random_table_is_used(node))
            continue;
        assert(node->tables->wanted_top < LFT_ENTRIES);
        unsigned blocks = node->tables->wanted_top / LFT_BLOCK + 1u;
        read_blocks(sm, audit->cursor++, blocks);
        audit->next_at = now + blocks * NS_PER_S / standby_copy_pace(sm);
        return;
    }
    audit->running = false;
}

static void audit_block_read(struct sm *sm, uint64_t now, const struct request *request,
                             const uint8_t *data)
{
    uint32_t index = request->about.table.node, block = request->about.table.block;
    struct subnet_node *node = node_at(sm, index);
    uint8_t *actual = node->tables->actual + block * LFT_BLOCK;
    if (!node->present || program_is_writing_tables(sm, index) ||
        !subnet_block_known(node->tables, block) || memcmp(actual, data, LFT_BLOCK) == 0)
        return;
    memcpy(actual, data, LFT_BLOCK);
    sm_begin_change(sm, now, "switch 0x%016llx has another table than the last master's copy",
                    (unsigned long long)node->guid);
    reconfigure_request(sm, REASON_TAKE_OVER); /* what is there may still be right */
}

static void audit_block_ended(struct sm *sm, const struct request *request)
{
    (void)request;
    assert(sm->audit->under_way);
    sm->audit->under_way--;
}
