/* Sends Get(NodeInfo) over one hop through the MAD layer of a simulated host, and tells whether an
 * answer came. */
#include "host/sim/sim_smp.h"

#include "host/mad/mad_layer.h"

#include <arpa/inet.h>

enum { TIMEOUT_MS = 100 };

struct sim_smp {
    struct mad_file *file;
    enum sim_smp_state state;
};

struct sim_smp *sim_smp_send(struct sim *sim, const struct fabric *fabric, uint32_t port)
{
    struct sim_smp *smp = mem_zalloc(1, sizeof *smp);
    struct registration directed = {.class = CLASS_SUBN_DIRECTED, .class_version = 1};
    struct mad_head head = {.timeout_ms = TIMEOUT_MS, .lid = htons(LID_PERMISSIVE)};
    uint8_t mad[MAD_BYTES] = {0};
    smp->file = mad_file_open(sim_mads(sim), port, smp);
    head.agent = (uint32_t)mad_file_register(smp->file, &directed);
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_SUBN_DIRECTED);
    wire_set(mad, MAD_CLASS_VERSION, 1);
    wire_set(mad, MAD_METHOD, METHOD_GET);
    wire_set(mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_NODE_INFO);
    wire_set(mad, MAD_TID, 1);
    wire_set(mad, SMP_DR_SLID, LID_PERMISSIVE);
    wire_set(mad, SMP_DR_DLID, LID_PERMISSIVE);
    wire_set(mad, SMP_HOP_COUNT, 1);
    wire_bytes(mad, SMP_INITIAL_PATH)[1] =
        (uint8_t)topology_port_number(fabric_topology(fabric), port);
    if (mad_file_send(smp->file, sim_now(sim), &head, mad, MAD_BYTES) != 0)
        smp->state = SIM_SMP_UNANSWERED;
    return smp;
}

void sim_smp_free(struct sim_smp *smp)
{
    if (!smp)
        return;
    mad_file_close(smp->file);
    mem_free(smp);
}

enum sim_smp_state sim_smp_state(struct sim_smp *smp)
{
    const struct mad_received *received = mad_file_next(smp->file);
    if (received) {
        smp->state = received->head.status ? SIM_SMP_UNANSWERED : SIM_SMP_ANSWERED;
        mad_file_taken(smp->file);
    }
    return smp->state;
}
