/* Hypervisors: adapters that appear as a small switch with adapters behind it. */
#ifndef WEFT_TOPOLOGY_VIRTUAL_H
#define WEFT_TOPOLOGY_VIRTUAL_H

#include "topology/topology.h"

/* Turns the first `limit` adapters with exactly one linked port into hypervisors with `vfs` virtual
 * functions each (1 … VSWITCH_VFS_LIMIT); adapters behind a virtual switch do not count. The old
 * nodes keep their numbers, names and GUIDs; the new nodes of each hypervisor follow at the end:
 * the virtual switch "host3-vswitch" and the virtual functions "host3-vf1", "host3-vf2", … On error
 * nothing is changed. */
int topology_virtualise(struct topology *topology, unsigned vfs, uint32_t limit, struct err *err);

/* Whether this node is a virtual switch. */
bool topology_is_vswitch(const struct topology *topology, uint32_t node);
/* For an adapter's port behind a virtual switch, or at a shared port: 0 for the physical function,
 * v for virtual function v; -1 if it is neither. */
int topology_function(const struct topology *topology, uint32_t port);

/* Changes hypervisors from vSwitch mode to shared-port mode: their adapters are at their cables,
 * and virtual switches are gone. A virtual function keeps its node, name and GUID, but has no link:
 * it uses the link and the LID of the physical port (`shares`). Numbers of nodes can change. */
void topology_share_ports(struct topology *topology);

/* The physical network: without virtual switches and functions, and with the adapters of
 * hypervisors at their cables. The caller initialises and releases `plain`. */
struct virtual_counts {
    uint32_t hypervisors, functions;
};
void topology_without_functions(struct topology *plain, const struct topology *topology,
                                struct virtual_counts *counts);

#endif
