/* A plan for replacing forwarding tables: which entries are written in which wave, and where a
 * drain lies between two waves. update/make_plan.h makes such plans and states their rule;
 * check/transition.h checks them. */
#ifndef WEFT_ROUTING_MODEL_UPDATE_PLAN_H
#define WEFT_ROUTING_MODEL_UPDATE_PLAN_H

#include "routing/model/routes.h"

enum { UPDATE_PLAN_VLS = 16 };

/* An entry of a switch's table, old and new. */
struct table_change {
    uint32_t at;
    uint16_t lid;
    uint8_t before, after;
};

/* One of several entries must be acknowledged before another is sent; `drain`: and packets that it
 * sent before must be gone. */
struct update_wait {
    uint32_t entry, first;
    bool drain;
};

/* Some LIDs of one switch's table: whole blocks where that is safe, else single entries (the block
 * is then written with the old values of the others). */
struct table_update {
    uint32_t at;
    uint16_t first_lid, lid_count;
};
struct update_wave {
    uint32_t first, count; /* in `updates` */
    bool drain;            /* a drain must precede it */
    uint32_t drain_hops;   /* packets pass at most this many switches; 0: not known */
};
struct update_plan {
    VEC(struct table_update) updates;
    VEC(struct update_wave) waves;
    VEC(struct table_update) stuck; /* no safe order: written while stuck_vls are held */
    VEC(uint8_t)
    ports;                   /* the new entries, by update, then by stuck one; none: those
                                of the new tables */
    uint16_t stuck_vls;      /* VLs to hold (bit = VL); new SLs alone may require a hold */
    uint32_t stuck_hops;     /* drain of held VLs: packets pass at most this many switches */
    uint8_t *first_levels;   /* as before->service_levels: sources use these before the first
                                wave; NULL: the old ones */
    uint32_t first_hops;     /* drain of the old levels: switches, as stuck_hops */
    bool relies_on_discards; /* switches discard packets that they would send back by their
                                input port, instead of waiting for it (IBA PortLoopingErrors);
                                else such packets count as a loop */
    uint64_t work;           /* table entries visited */
    uint64_t operations;     /* of planning, as engine.h counts */
};

static inline void update_plan_release(struct update_plan *plan)
{
    vec_release(&plan->updates);
    vec_release(&plan->waves);
    vec_release(&plan->stuck);
    vec_release(&plan->ports);
    mem_free(plan->first_levels);
    plan->first_levels = NULL;
}
static inline uint32_t update_plan_drains(const struct update_plan *plan)
{
    uint32_t drains = 0;
    for (size_t i = 0; i < plan->waves.count; i++)
        drains += plan->waves.items[i].drain;
    return drains;
}

#endif
