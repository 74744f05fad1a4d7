/* Directed-route SMPs (14.2.2): whether a node discards an SMP, takes it or forwards it, by the
 * direction bit, hop pointer and hop count. step_out() follows the initial path and records the
 * return path, which step_back() follows. Only switches forward SMPs of other nodes. M_Keys are
 * left to the agent. */
#include "fabric/internal.h"

WIRE_INLINE struct smi_step smi_forward(uint8_t *mad, unsigned pointer, enum wire_field path,
                                        unsigned at)
{
    wire_set(mad, SMP_HOP_POINTER, pointer);
    return (struct smi_step){.action = SMI_FORWARD, .port = (unsigned)wire_get_at(mad, path, at)};
}

/* The directed part ends here: a permissive LID means that no LID-routed part follows. */
static struct smi_step smi_finish(uint8_t *mad, bool is_switch, unsigned pointer,
                                  enum wire_field lid)
{
    wire_set(mad, SMP_HOP_POINTER, pointer);
    uint16_t next = (uint16_t)wire_get(mad, lid);
    if (next == LID_PERMISSIVE)
        return (struct smi_step){.action = SMI_LOCAL};
    return (struct smi_step){.action = is_switch ? SMI_LID_ROUTE : SMI_DISCARD, .dlid = next};
}

static struct smi_step step_out(uint8_t *mad, bool is_switch, unsigned arrival, unsigned pointer,
                                unsigned hops)
{
    if (pointer == 0 && hops != 0)
        return is_switch || arrival == 0 ? smi_forward(mad, 1, SMP_INITIAL_PATH, 1)
                                         : (struct smi_step){.action = SMI_DISCARD};
    if (pointer <= hops && pointer != 0 && arrival != 0)
        wire_set_at(mad, SMP_RETURN_PATH, pointer, arrival);
    if (pointer < hops && is_switch && arrival != 0)
        return smi_forward(mad, pointer + 1, SMP_INITIAL_PATH, pointer + 1);
    if (pointer == hops && (arrival != 0 || hops == 0))
        return smi_finish(mad, is_switch, pointer + 1, SMP_DR_DLID);
    return (struct smi_step){.action = pointer == hops + 1 ? SMI_LOCAL : SMI_DISCARD};
}

static struct smi_step step_back(uint8_t *mad, bool is_switch, unsigned arrival, unsigned pointer,
                                 unsigned hops)
{
    if (pointer == 0)
        return (struct smi_step){.action = SMI_LOCAL};
    if (pointer == 1 && (arrival != 0 || hops == 0))
        return smi_finish(mad, is_switch, 0, SMP_DR_SLID);
    if (pointer == hops + 1 && arrival == 0)
        return smi_forward(mad, pointer - 1, SMP_RETURN_PATH, pointer - 1);
    if (pointer >= 2 && pointer <= hops && is_switch && arrival != 0)
        return smi_forward(mad, pointer - 1, SMP_RETURN_PATH, pointer - 1);
    return (struct smi_step){.action = SMI_DISCARD};
}

struct smi_step smi_step(uint8_t mad[MAD_BYTES], bool is_switch, unsigned arrival)
{
    unsigned pointer = (unsigned)wire_get(mad, SMP_HOP_POINTER);
    unsigned hops = (unsigned)wire_get(mad, SMP_HOP_COUNT);
    if (hops > SMP_MAX_HOPS || pointer > SMP_MAX_HOPS + 1)
        return (struct smi_step){.action = SMI_DISCARD};
    if (wire_get(mad, SMP_DIRECTION))
        return step_back(mad, is_switch, arrival, pointer, hops);
    return step_out(mad, is_switch, arrival, pointer, hops);
}
