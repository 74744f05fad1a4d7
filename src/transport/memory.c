/* Protection domains, memory regions and their keys (10.6), and scatter and gather lists.
 *
 * A key is the slot of a region, which begins at 1, and eight bits that change with each
 * registration of that slot. It is L_Key and R_Key at the same time. */
#include "transport/internal.h"

#include <errno.h>

static struct domain *domain_find(const struct transport *transport, uint32_t number)
{
    return number < transport->domains.count && transport->domains.items[number].used
               ? &transport->domains.items[number]
               : NULL;
}

uint32_t transport_add_domain(struct transport *transport)
{
    uint32_t number = pool_take(&transport->domains);
    transport->domains.items[number] = (struct domain){.used = true};
    return number;
}

int transport_remove_domain(struct transport *transport, uint32_t number)
{
    struct domain *domain = domain_find(transport, number);
    if (!domain)
        return -EINVAL;
    if (domain->users)
        return -EBUSY;
    domain->used = false;
    pool_give(&transport->domains, number);
    return 0;
}

int domain_use(struct transport *transport, uint32_t number, int change)
{
    struct domain *domain = domain_find(transport, number);
    if (!domain)
        return -EINVAL;
    domain->users += (uint32_t)change;
    return 0;
}

static bool region_valid(const struct transport_region *region)
{
    bool remote_write = region->rights & (RIGHT_REMOTE_WRITE | RIGHT_REMOTE_ATOMIC);
    return region->rights < 16 && !(remote_write && !(region->rights & RIGHT_LOCAL_WRITE)) &&
           region->bytes <= UINT64_MAX - region->start;
}

int transport_add_region(struct transport *transport, const struct transport_region *region,
                         uint32_t *key)
{
    if (!region_valid(region) || domain_use(transport, region->domain, 1))
        return -EINVAL;
    uint32_t slot = pool_take(&transport->regions);
    struct region *added = &transport->regions.items[slot];
    added->public = *region;
    added->used = true;
    added->generation++;
    *key = (slot + 1) << 8 | added->generation;
    return 0;
}

static struct region *region_of_key(const struct transport *transport, uint32_t key)
{
    uint32_t slot = (key >> 8) - 1;
    if (slot >= transport->regions.count)
        return NULL;
    struct region *region = &transport->regions.items[slot];
    return region->used && region->generation == (key & 0xFF) ? region : NULL;
}

int transport_remove_region(struct transport *transport, uint32_t key)
{
    struct region *region = region_of_key(transport, key);
    if (!region)
        return -EINVAL;
    domain_use(transport, region->public.domain, -1);
    region->used = false;
    pool_give(&transport->regions, (key >> 8) - 1);
    return 0;
}

int transport_replace_region(struct transport *transport, uint32_t key,
                             const struct transport_region *region)
{
    struct region *replaced = region_of_key(transport, key);
    if (!replaced || !region_valid(region) || domain_use(transport, region->domain, 1))
        return -EINVAL;
    domain_use(transport, replaced->public.domain, -1);
    replaced->public = *region;
    return 0;
}

const struct region *region_find(const struct transport *transport, uint32_t domain, uint32_t key,
                                 unsigned rights, uint64_t address, uint64_t bytes)
{
    const struct region *region = region_of_key(transport, key);
    if (!region || region->public.domain != domain || (region->public.rights & rights) != rights ||
        address < region->public.start)
        return NULL;
    uint64_t offset = address - region->public.start;
    return offset <= region->public.bytes && bytes <= region->public.bytes - offset ? region : NULL;
}

bool region_revoke(struct transport *transport, uint32_t domain, uint32_t key)
{
    struct region *region = region_of_key(transport, key);
    if (!region || region->public.domain != domain)
        return false;
    region->public.rights &= RIGHT_LOCAL_WRITE;
    return true;
}

uint64_t segments_copy(struct transport *transport, struct segments *segments,
                       const struct transport_segment *from, unsigned count)
{
    uint64_t bytes = 0;
    *segments = (struct segments){.more = NONE, .count = (uint8_t)count};
    for (unsigned i = count; i-- > 0;) { /* backwards, so that the chain is in order */
        bytes += from[i].bytes;
        if (i == 0) {
            segments->first = from[0];
        } else {
            uint32_t number = pool_take(&transport->segments);
            transport->segments.items[number] = (struct segment){from[i], segments->more};
            segments->more = number;
        }
    }
    return bytes;
}

void segments_drop(struct transport *transport, struct segments *segments)
{
    while (segments->more != NONE) {
        uint32_t number = segments->more;
        segments->more = transport->segments.items[number].next;
        pool_give(&transport->segments, number);
    }
}

static bool segment_allowed(const struct transport *transport, uint32_t domain,
                            const struct transport_segment *segment, unsigned rights)
{
    return segment->bytes == 0 ||
           region_find(transport, domain, segment->key, rights, segment->address, segment->bytes);
}

bool segments_allowed(const struct transport *transport, uint32_t domain,
                      const struct segments *segments, unsigned rights)
{
    if (segments->count && !segment_allowed(transport, domain, &segments->first, rights))
        return false;
    for (uint32_t at = segments->more; at != NONE; at = transport->segments.items[at].next)
        if (!segment_allowed(transport, domain, &transport->segments.items[at].public, rights))
            return false;
    return true;
}

void access_place(struct transport *transport, const struct qp *qp, uint8_t target, uint32_t key,
                  uint64_t memory, uint64_t offset, const struct transport_payload *payload)
{
    if (!transport->config.accesses || payload->bytes == 0)
        return;
    struct transport_access access = {
        .kind = ACCESS_PLACE,
        .target = target,
        .qp = qp_number(transport, qp),
        .key = key,
        .memory = memory,
        .offset = offset,
        .payload = *payload,
    };
    vec_push(&transport->accesses, access);
}

bool transport_next_access(struct transport *transport, struct transport_access *access)
{
    if (transport->accesses_taken == transport->accesses.count)
        return false;
    *access = transport->accesses.items[transport->accesses_taken++];
    transport->accesses_taken = vec_drop_taken(&transport->accesses, transport->accesses_taken);
    return true;
}
