/* The part about routers of a dump of a subnet (dumps.h). */
#ifndef WEFT_HOST_DUMP_BORDER_H
#define WEFT_HOST_DUMP_BORDER_H

#include "base/text.h"

struct subnet;
void dump_put_border(const struct subnet *subnet, struct text *out);

#endif
