/* The contract between the agents of virtual switches and the manager.
 *
 * A hypervisor's adapter in vSwitch mode is a small switch with adapters behind it, all in one
 * device: port 1 is the uplink, port 2 the physical function (PF), port 2 + v the virtual function
 * (VF) v. Its NodeInfo identifies it: a switch of this device ID. It shares the LID of its PF: a
 * Set of one sets both (except the LMC, which belongs to the PF). Agent requests to QP0 of that LID
 * are for the switch; everything else is for the PF, including SMInfo, traps and responses, since a
 * manager may run there. The switch computes its LFT: LIDs of its functions to their ports, all
 * other LIDs to port 1. The LFT can be read; writes are ignored. LinearFDBTop can be written, but
 * has no effect. It needs no multicast table either: it copies multicast packets to all its other
 * ports with a link, and adapters drop those that nobody has joined.
 *
 * Each function is an adapter with one port and its own agent. A VF without a LID has its link
 * down. Set(VirtualFunction) with the number of a VF as modifier sets LID, LMC, port GUID (0: the
 * initial one) and the attached flag, all in one step: with a LID the VF is up and Active at once,
 * with LID 0 it is down at once. The switch reports neither a trap nor a port state change for
 * that, since the manager requested it. The switch refuses LIDs that another function of the device
 * has, or that do not fit the LMC. A VF that comes up starts with the settings of the PF
 * (MasterSMLID, M_Key and its lease and protection, subnet time-out, partitions, VLs), and its
 * switch port with those of port 2, so that the manager writes nothing more; its PortInfo can be
 * set like that of any adapter. The name is that of the attached machine, padded with zeros; the
 * switch only stores it, so that every manager can read it. Get with modifier 0 returns the PF and
 * the number of VFs; NodeGUID and FunctionCount are read-only. */
#ifndef WEFT_WIRE_VSWITCH_H
#define WEFT_WIRE_VSWITCH_H

enum {
    VSWITCH_DEVICE_ID = 0x7653,
    VSWITCH_UPLINK = 1,
    VSWITCH_PF = 2,
    VSWITCH_VFS_LIMIT = 126,
    VSWITCH_NAME_BYTES = 40, /* of a machine, in VirtualFunction */
};

#endif
