/* Static rate control (9.11): a sender keeps the rate of the path to each receiver.
 *
 * The rate of a path is that of its slowest link, as in its PathRecord. If the sender's own link is
 * faster, the packets to this receiver are spaced as they would be on the slowest link; those to
 * other receivers do not wait for them. The paths that are slower than their sender's link get a
 * time each, by sender and receiver, before which no packet of theirs may be sent.
 *
 * Left out: the multiples of the base rate in which adapters code the rate, and multicast. */
#include "fabric/internal.h"
#include "fabric/path.h"

/* The time of eight bytes on the slowest link from the port to the LID, by the LFTs in force. */
static uint64_t slowest_link(const struct fabric *fabric, uint32_t port, unsigned dlid)
{
    struct fabric_path path = {.fabric = fabric, .dlid = dlid, .out = port};
    uint64_t slowest = 0;
    do
        if (fabric->ports[path.out].ps_per_8_bytes > slowest)
            slowest = fabric->ports[path.out].ps_per_8_bytes;
    while (path.hops < fabric->hop_limit && fabric_path_step(&path, NULL) == PATH_GOES_ON);
    return slowest;
}

uint64_t *pacing_find(struct fabric *fabric, uint32_t sender, const struct data_packet *data_packet,
                      uint64_t *interval_ps)
{
    struct data *data = fabric->data;
    struct sender *of = &data->senders.items[sender];
    if (!fabric->mixed_rates || data->traffics.items[of->traffic].ignores_path_rate ||
        !data_packet->dlid || lid_is_multicast(data_packet->dlid))
        return NULL;
    uint64_t slowest = slowest_link(fabric, of->port, data_packet->dlid);
    if (slowest <= fabric->ports[of->port].ps_per_8_bytes)
        return NULL;
    *interval_ps = data_packet->bytes * slowest / 8;
    struct pacing *pacing = &of->pacing;
    uint32_t at =
        map_add(&pacing->by_destination, data_packet->destination, (uint32_t)pacing->free_at.count);
    if (at == pacing->free_at.count)
        vec_push(&pacing->free_at, UINT64_C(0));
    return &pacing->free_at.items[at];
}

void pacing_release(struct pacing *pacing)
{
    map_release(&pacing->by_destination);
    vec_release(&pacing->free_at);
}
