/* What agents of virtual switches and the manager agree upon.
 *
 * A hypervisor's adapter in vSwitch mode is a small switch with adapters behind it, all in one
 * device: port 1 is the cable, port 2 the physical function (PF), port 2 + v the virtual function
 * (VF) v. It is known by its NodeInfo, a switch of this device ID. It shares the LID of its PF:
 * whoever sets one sets both (but not the LMC, which is the PF's alone). What comes for that LID to
 * QP0 and is a question to an agent is for the switch; all else is for the PF, SMInfo, traps and
 * answers included, since a manager may sit there. Its forwarding table is its own business: LIDs
 * of its functions to their ports, everything else out of port 1; it can be read, and writing it
 * changes nothing. LinearFDBTop can be written, but does not matter.
 *
 * Each function is an adapter with one port and its own agent. A VF that has no LID has its link
 * down. Set(VirtualFunction) with the number of a VF as modifier gives it a LID, an LMC and a port
 * GUID (0: the one it was born with) and says whether a machine is attached, all in one step: with
 * a LID the VF is up and Active at once, without one (LID 0) it is down at once. The switch tells
 * nobody of that: no trap, no port state change, since it is the manager who asked. LIDs that
 * another function of the device has, or that do not fit the LMC, are refused. A VF that comes up
 * starts with the settings of the PF (MasterSMLID, M_Key and its lease and protection, subnet
 * time-out, partitions, lanes), and the switch's port before it with those of port 2, so that
 * nothing more has to be written; its PortInfo can be set as that of any adapter. Get with modifier
 * 0 tells of the PF and how many VFs there are; NodeGUID and FunctionCount are read only. */
#ifndef WEFT_WIRE_VSWITCH_H
#define WEFT_WIRE_VSWITCH_H

enum {
    VSWITCH_DEVICE_ID = 0x7653,
    VSWITCH_UPLINK = 1,
    VSWITCH_PF = 2,
    VSWITCH_VFS_DEFAULT = 16,
    VSWITCH_VFS_LIMIT = 126,
};

#endif
