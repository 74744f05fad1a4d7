/* Which table entries change when a VM moves (routing/update/columns.h). */
#ifndef WEFT_VSWITCH_MODE_H
#define WEFT_VSWITCH_MODE_H

enum vswitch_mode { VSWITCH_BALANCED, VSWITCH_MINIMAL };

#endif
