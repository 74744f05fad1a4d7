/* The order of several paths in an answer: the two that share the fewest cables come first, then
 * the fewest switches, so that a client that takes the first two as primary and alternate path
 * survives most failures. Each further path shares the least with those before it. Among equal
 * ones the order stays, in which the engine's own path comes first. */
#include "sa/internal.h"

#include "routing/check/overlap.h"

enum { ORDERED_MOST = 16 }; /* of more paths, the first ones are ordered */

struct shared {
    uint32_t cables, switches;
};

static bool shares_less(struct shared a, struct shared b)
{
    return a.cables != b.cables ? a.cables < b.cables : a.switches < b.switches;
}

static struct route_pair pair_of(const struct sa *sa, const uint8_t *record)
{
    struct route_pair pair = {
        .lids = {(uint16_t)wire_get(record, PATH_RECORD_SLID),
                 (uint16_t)wire_get(record, PATH_RECORD_DLID)},
    };
    for (unsigned end = 0; end < 2; end++)
        pair.ends[end] = network_owner(sa->view.network, pair.lids[end]);
    return pair;
}

static uint8_t *record_at(const struct answer *answer, uint32_t number)
{
    return answer->bytes + SA_DATA_OFFSET + number * answer->record_bytes;
}

/* shared[i][j] for all pairs; false if an end is not known. */
static bool find_shared(const struct sa *sa, const struct answer *answer, uint32_t count,
                        struct shared shared[ORDERED_MOST][ORDERED_MOST])
{
    struct route_pair pairs[ORDERED_MOST];
    for (uint32_t i = 0; i < count; i++) {
        pairs[i] = pair_of(sa, record_at(answer, i));
        if (pairs[i].ends[0] == NETWORK_NONE || pairs[i].ends[1] == NETWORK_NONE)
            return false;
        for (uint32_t j = 0; j < i; j++) {
            struct route_overlap overlap =
                route_pairs_overlap(sa->view.network, sa->view.routes, &pairs[j], &pairs[i]);
            shared[i][j] = shared[j][i] = (struct shared){overlap.cables, overlap.switches};
        }
    }
    return true;
}

/* The first two, and then one after the other. */
static void choose_order(uint32_t count, struct shared shared[ORDERED_MOST][ORDERED_MOST],
                         uint32_t order[ORDERED_MOST])
{
    struct shared sums[ORDERED_MOST] = {{0, 0}};
    bool taken[ORDERED_MOST] = {false};
    order[0] = 0;
    order[1] = 1;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = i + 1; j < count; j++)
            if (shares_less(shared[i][j], shared[order[0]][order[1]])) {
                order[0] = i;
                order[1] = j;
            }
    for (uint32_t next = 0; next < count; next++) {
        uint32_t best = next < 2 ? order[next] : count;
        for (uint32_t i = 0; i < count && next >= 2; i++)
            if (!taken[i] && (best == count || shares_less(sums[i], sums[best])))
                best = i;
        order[next] = best;
        taken[best] = true;
        for (uint32_t i = 0; i < count; i++) {
            sums[i].cables += i == best ? 0 : shared[i][best].cables;
            sums[i].switches += i == best ? 0 : shared[i][best].switches;
        }
    }
}

void path_order(const struct sa *sa, struct answer *answer, unsigned most)
{
    struct shared shared[ORDERED_MOST][ORDERED_MOST];
    uint32_t order[ORDERED_MOST];
    uint32_t count = answer->count < ORDERED_MOST ? answer->count : ORDERED_MOST;
    uint8_t records[ORDERED_MOST][WIRE_BYTES_PATH_RECORD];
    if (answer->over)
        return;
    if (count > 2 && answer->record_bytes == WIRE_BYTES_PATH_RECORD &&
        find_shared(sa, answer, count, shared)) {
        choose_order(count, shared, order);
        for (uint32_t i = 0; i < count; i++)
            memcpy(records[i], record_at(answer, order[i]), WIRE_BYTES_PATH_RECORD);
        memcpy(record_at(answer, 0), records, count * (size_t)WIRE_BYTES_PATH_RECORD);
    }
    while (answer->count > most)
        answer_drop(answer);
}
