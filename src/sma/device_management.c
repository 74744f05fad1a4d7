/* The device management agent of a target adapter (16.3): an I/O unit whose controllers are SCSI
 * RDMA targets.
 *
 * An adapter has as many controllers as its attribute `io_controllers` says, in the slots 1 to that
 * number, each with `io_services` targets. Their numbers are derived from the GUID of the node, so
 * that they last: a controller differs by its slot in bits 32 to 39, a target by its index in bits
 * 40 to 47. A target's service name has its identifier extension, as annex B of the SCSI RDMA
 * Protocol says, and its service ID is the same number.
 *
 * Left out: diagnostics, and traps of controllers that come and go. */
#include "sma/internal.h"

#include <stdio.h>
#include <string.h>

enum { STATUS_NO_CONTROLLER = 0x0100 }; /* class-specific: the slot is empty */
enum { CONTROLLER_NONE = 0, CONTROLLER_PRESENT = 1, CONTROLLER_NO_SLOT = 0xF };
enum { ENTRIES_PER_MAD = WIRE_BYTES_SERVICE_ENTRIES / WIRE_BYTES_SERVICE_ENTRY };

/* A target of the SCSI RDMA Protocol, revision 16a. */
enum {
    SRP_IO_CLASS = 0x0100,
    SRP_IO_SUBCLASS = 0x609E,
    SRP_PROTOCOL = 0x0108,
    SRP_PROTOCOL_VERSION = 1,
    SRP_SEND_BYTES = 2116,
    SRP_QUEUE_DEPTH = 128,
    SRP_RDMA_DEPTH = 16,
    SRP_RDMA_BYTES = 65536,
};
/* ControllerOperationsCapabilityMask: messages to and from the controller, and RDMA reads and
 * writes by it. */
enum { SRP_OPERATIONS = 1 << 0 | 1 << 1 | 1 << 3 | 1 << 5 };

static uint64_t controller_guid(const struct sma *sma, unsigned slot)
{
    return wire_get(sma->node_info, NODE_INFO_NODE_GUID) ^ (uint64_t)slot << 32;
}

static void write_unit(const struct sma *sma, uint8_t *data)
{
    wire_set(data, IO_UNIT_INFO_CHANGE_ID, 1);
    wire_set(data, IO_UNIT_INFO_MAX_CONTROLLERS, sma->options.io_controllers);
    for (unsigned slot = 1; slot <= wire_fields[IO_UNIT_INFO_CONTROLLER].count; slot++)
        wire_set_at(data, IO_UNIT_INFO_CONTROLLER, slot - 1,
                    slot <= sma->options.io_controllers ? CONTROLLER_PRESENT : CONTROLLER_NO_SLOT);
}

static uint16_t write_profile(const struct sma *sma, uint32_t slot, uint8_t *data)
{
    if (slot == 0 || slot > wire_fields[IO_UNIT_INFO_CONTROLLER].count)
        return STATUS_BAD_VALUE;
    if (slot > sma->options.io_controllers)
        return STATUS_NO_CONTROLLER;
    wire_set(data, IO_CONTROLLER_PROFILE_GUID, controller_guid(sma, slot));
    wire_set(data, IO_CONTROLLER_PROFILE_VENDOR_ID, wire_get(sma->node_info, NODE_INFO_VENDOR_ID));
    wire_set(data, IO_CONTROLLER_PROFILE_DEVICE_ID, wire_get(sma->node_info, NODE_INFO_DEVICE_ID));
    wire_set(data, IO_CONTROLLER_PROFILE_IO_CLASS, SRP_IO_CLASS);
    wire_set(data, IO_CONTROLLER_PROFILE_IO_SUBCLASS, SRP_IO_SUBCLASS);
    wire_set(data, IO_CONTROLLER_PROFILE_PROTOCOL, SRP_PROTOCOL);
    wire_set(data, IO_CONTROLLER_PROFILE_PROTOCOL_VERSION, SRP_PROTOCOL_VERSION);
    wire_set(data, IO_CONTROLLER_PROFILE_SEND_QUEUE_DEPTH, SRP_QUEUE_DEPTH);
    wire_set(data, IO_CONTROLLER_PROFILE_RDMA_READ_DEPTH, SRP_RDMA_DEPTH);
    wire_set(data, IO_CONTROLLER_PROFILE_SEND_BYTES, SRP_SEND_BYTES);
    wire_set(data, IO_CONTROLLER_PROFILE_RDMA_BYTES, SRP_RDMA_BYTES);
    wire_set(data, IO_CONTROLLER_PROFILE_OPERATIONS, SRP_OPERATIONS);
    wire_set(data, IO_CONTROLLER_PROFILE_SERVICE_ENTRIES, sma->options.io_services);
    char name[64 + 1]; /* IDString needs no terminating zero */
    int length = snprintf(name, sizeof name, "I/O controller %u of %.*s", slot,
                          (int)sizeof sma->description, (const char *)sma->description);
    unsigned room = wire_fields[IO_CONTROLLER_PROFILE_ID_STRING].count;
    memcpy(data + wire_fields[IO_CONTROLLER_PROFILE_ID_STRING].offset / 8, name,
           (unsigned)length < room ? (unsigned)length : room);
    return STATUS_OK;
}

/* The modifier: slot in the upper half, last and first entry in the lower one. */
static uint16_t write_services(const struct sma *sma, uint32_t modifier, uint8_t *data)
{
    unsigned slot = modifier >> 16, last = modifier >> 8 & 0xFF, first = modifier & 0xFF;
    if (slot == 0 || slot > wire_fields[IO_UNIT_INFO_CONTROLLER].count || first > last ||
        last - first >= ENTRIES_PER_MAD || last >= sma->options.io_services)
        return STATUS_BAD_VALUE;
    if (slot > sma->options.io_controllers)
        return STATUS_NO_CONTROLLER;
    for (unsigned i = first; i <= last; i++) {
        uint8_t *entry = data + (size_t)(i - first) * WIRE_BYTES_SERVICE_ENTRY;
        uint64_t target = controller_guid(sma, slot) ^ (uint64_t)i << 40;
        char name[40];
        int length = snprintf(name, sizeof name, "SRP.T10:%016llX", (unsigned long long)target);
        memcpy(entry, name, (unsigned)length);
        wire_set(entry, SERVICE_ENTRY_ID, target);
    }
    return STATUS_OK;
}

uint16_t sma_access_device(struct sma *sma, uint64_t now, unsigned port, uint8_t *mad)
{
    (void)now, (void)port;
    uint8_t *data = mad + GMP_DATA_OFFSET;
    uint32_t modifier = (uint32_t)wire_get(mad, MAD_ATTRIBUTE_MODIFIER);
    if (wire_get(mad, MAD_METHOD) != METHOD_GET)
        return STATUS_BAD_ATTRIBUTE;
    memset(data, 0, GMP_DATA_BYTES);
    switch (wire_get(mad, MAD_ATTRIBUTE_ID)) {
    case ATTRIBUTE_IO_UNIT_INFO: write_unit(sma, data); return STATUS_OK;
    case ATTRIBUTE_IO_CONTROLLER_PROFILE: return write_profile(sma, modifier, data);
    case ATTRIBUTE_SERVICE_ENTRIES: return write_services(sma, modifier, data);
    default: return STATUS_BAD_ATTRIBUTE;
    }
}
