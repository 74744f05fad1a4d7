/* Captures: packets written to a pcapng file that Wireshark and tshark decode. */
#ifndef WEFT_WIRE_PCAP_H
#define WEFT_WIRE_PCAP_H

#include "base/err.h"
#include "wire/packet.h"
#include "wire/transport_packet.h"

#include <stddef.h>
#include <stdint.h>

enum { PACKET_MAX_PAYLOAD = TRANSPORT_MTU_MAX };

struct pcap_packet {
    struct packet_header header;
    const uint8_t *payload; /* the MAD */
    size_t length;          /* at most PACKET_MAX_PAYLOAD */
};

/* The header by the rules for MADs: SMPs go from QP0 to QP0 on VL 15, all others between QP1s. */
struct packet_header packet_header_of_mad(const uint8_t *mad, uint16_t slid, uint16_t dlid,
                                          uint8_t sl);

struct pcap;
/* Creates or truncates the file. */
int pcap_open(struct pcap **pcap, const char *path, struct err *err);
/* Adds a direction of a link and returns its number. The name may have 256 bytes. */
uint32_t pcap_add_interface(struct pcap *pcap, const char *name, uint64_t bits_per_second);
/* 0 or -errno; after an error, nothing more is written and every call returns that error. */
int pcap_write(struct pcap *pcap, uint32_t interface, uint64_t time_ps,
               const struct pcap_packet *packet);
/* The same for a packet of the transport services; `payload` NULL: zeros. */
int pcap_write_transport(struct pcap *pcap, uint32_t interface, uint64_t time_ps,
                         const struct transport_packet *packet, uint8_t vl, const uint8_t *payload);
/* Flushes, closes and frees; the first error of all writes, or 0. Accepts NULL. */
int pcap_close(struct pcap *pcap);

#endif
