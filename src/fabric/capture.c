/* Captures of management packets and of packets of transport services: each direction of a link is
 * an interface of the capture file, named NODE:PORT>NODE:PORT after the sending and the receiving
 * port. A node has its description if that is unique, else its name in the topology. An interface
 * is added with its first packet, so that the capture of a large fabric has only the links that
 * were used. */
#include "fabric/internal.h"
#include "wire/pcap.h"

#include <stdio.h>

void fabric_set_pcap(struct fabric *fabric, struct pcap *pcap)
{
    mem_free(fabric->pcap_interfaces);
    fabric->pcap_interfaces =
        pcap ? mem_zalloc(fabric->port_count + 1, sizeof *fabric->pcap_interfaces) : NULL;
    fabric->pcap = pcap;
}

static uint32_t add_interface(struct fabric *fabric, uint32_t index)
{
    const struct topology *topology = fabric->topology;
    const struct port *port = &fabric->ports[index], *peer = &fabric->ports[port->peer];
    char name[256];
    snprintf(name, sizeof name, "%.100s:%u>%.100s:%u", topology_label(topology, port->node),
             port->number, topology_label(topology, peer->node), peer->number);
    return pcap_add_interface(fabric->pcap, name, 64 * TIME_S / port->ps_per_8_bytes);
}

static uint32_t find_interface(struct fabric *fabric, uint32_t index)
{
    uint32_t *interface = &fabric->pcap_interfaces[index]; /* number + 1; 0: none yet */
    if (*interface == 0)
        *interface = add_interface(fabric, index) + 1;
    return *interface - 1;
}

void capture_packet(struct fabric *fabric, uint32_t index, uint64_t at, const struct packet *packet)
{
    if (fabric->pcap)
        pcap_write(fabric->pcap, find_interface(fabric, index), at,
                   &(struct pcap_packet){packet->header, packet->mad, MAD_BYTES});
}

void capture_transport(struct fabric *fabric, uint32_t index, uint64_t at, unsigned vl,
                       const struct transport_packet *packet)
{
    if (fabric->pcap)
        pcap_write_transport(fabric->pcap, find_interface(fabric, index), at, packet, (uint8_t)vl,
                             NULL);
}
