#include "perf/slots.h"

#include "base/time.h"

#include <assert.h>

void slots_init(struct slots *slots, uint32_t transaction)
{
    *slots = (struct slots){.oldest = NO_SLOT, .newest = NO_SLOT, .transaction = transaction};
}

void slots_release(struct slots *slots)
{
    vec_release(&slots->items);
    vec_release(&slots->free);
    vec_release(&slots->unsent);
}

struct slot *slots_take(struct slots *slots, uint32_t port, unsigned step)
{
    uint32_t index = (uint32_t)slots->items.count;
    if (slots->free.count)
        index = slots->free.items[--slots->free.count];
    assert(index < SLOTS_MOST);
    struct slot *slot = vec_at(&slots->items, index);
    *slot = (struct slot){.port = port, .step = (uint8_t)step};
    slots->occupied++;
    vec_push(&slots->unsent, index);
    return slot;
}

static void unlink_sent(struct slots *slots, struct slot *slot)
{
    struct slot *items = slots->items.items;
    assert(slot->sent);
    *(slot->older == NO_SLOT ? &slots->oldest : &items[slot->older].newer) = slot->newer;
    *(slot->newer == NO_SLOT ? &slots->newest : &items[slot->newer].older) = slot->older;
    slot->sent = false;
}

void slots_free(struct slots *slots, uint32_t index)
{
    unlink_sent(slots, &slots->items.items[index]);
    vec_push(&slots->free, index);
    slots->occupied--;
}

struct slot *slots_send(struct slots *slots, uint64_t until)
{
    assert(slots->unsent.count);
    uint32_t index = slots->unsent.items[--slots->unsent.count];
    struct slot *items = slots->items.items, *slot = &items[index];
    slots->transaction += SLOTS_MOST; /* its lower bits are the slot */
    slot->transaction = (slots->transaction & ~(uint32_t)(SLOTS_MOST - 1)) | index;
    slot->tries++;
    slot->until = until;
    slot->older = slots->newest;
    slot->newer = NO_SLOT;
    *(slots->newest == NO_SLOT ? &slots->oldest : &items[slots->newest].newer) = index;
    slots->newest = index;
    slot->sent = true;
    return slot;
}

void slots_return(struct slots *slots, uint32_t index)
{
    unlink_sent(slots, &slots->items.items[index]);
    vec_push(&slots->unsent, index);
}

uint32_t slots_find(const struct slots *slots, uint32_t transaction)
{
    uint32_t index = transaction % SLOTS_MOST;
    return index < slots->items.count && slots->items.items[index].sent &&
                   slots->items.items[index].transaction == transaction
               ? index
               : NO_SLOT;
}

uint64_t slots_deadline(const struct slots *slots)
{
    return slots->oldest == NO_SLOT ? TIME_NEVER : slots->items.items[slots->oldest].until;
}
