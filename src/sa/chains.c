/* Chains: an index from a key to all items with that key, in the order in which they were added.
 *
 * Services and subscriptions have several keys each, and many items can share one. A chain is a
 * doubly linked list whose first link is in a map, so that adding and removing cost O(1). Items are
 * numbers. Keys may be hashes: the caller compares the items that it gets. */
#include "sa/internal.h"

#include <assert.h>

uint32_t chains_add(struct chains *chains, uint64_t key, uint32_t item)
{
    uint32_t link = pool_take(&chains->links);
    uint32_t first = map_add(&chains->first, key, link);
    struct chain_link *links = chains->links.items;
    links[link] = (struct chain_link){.item = item, .before = link, .next = CHAIN_END};
    if (first == link)
        return link;
    links[link].before = links[first].before; /* that of the first link is the last one */
    links[links[first].before].next = link;
    links[first].before = link;
    return link;
}

void chains_remove(struct chains *chains, uint64_t key, uint32_t link)
{
    struct chain_link *links = chains->links.items;
    uint32_t first = map_get(&chains->first, key);
    assert(first != MAP_NONE && link < chains->links.count);
    uint32_t before = links[link].before, after = links[link].next;
    if (after != CHAIN_END)
        links[after].before = before;
    else
        links[first].before = before;
    if (first != link)
        links[before].next = after;
    else if (after != CHAIN_END)
        map_set(&chains->first, key, after);
    else
        map_remove(&chains->first, key);
    pool_give(&chains->links, link);
}

uint32_t chains_first(const struct chains *chains, uint64_t key)
{
    uint32_t first = map_get(&chains->first, key);
    return first == MAP_NONE ? CHAIN_END : first;
}

uint32_t chains_count(const struct chains *chains, uint64_t key, uint32_t most)
{
    uint32_t count = 0;
    for (uint32_t link = chains_first(chains, key); link != CHAIN_END && count < most; count++)
        link = chains->links.items[link].next;
    return count;
}

void chains_release(struct chains *chains)
{
    map_release(&chains->first);
    pool_release(&chains->links);
}
