/* Reads what a dump of a subnet says about its routers (`weft ctl subnet` writes it):
 *
 *   Subnet prefix 0xfec0000000000001
 *   Router 0x0000000000300000 port 1 portguid 0x0000000000300001
 *   Prefix 0xfec0000000000002 by 0x0000000000300001 0x0000000000300011
 *   Next hop of 0x0000000000300001 prefix 0xfec0000000000003 weight 1 by 0x0000000000300011
 *
 * "Prefix" is what the subnet administration answers to end ports: the ports of equal routers.
 * "Next hop" is an entry of the table of a router's port, and the ports to which the administration
 * sends this router. Other lines belong to other formats of the same file, and are ignored. */
#ifndef WEFT_ROUTING_BORDER_READ_H
#define WEFT_ROUTING_BORDER_READ_H

#include "base/line_reader.h"
#include "routing/model/border.h"

/* A file without "Subnet prefix" is an error, as are ports that no "Router" names. */
int border_read(struct border *border, struct line_reader *lines);

#endif
