/* Values as words of a statement, from which the same values are read. */
#ifndef WEFT_CONSOLE_EXACT_H
#define WEFT_CONSOLE_EXACT_H

#include "base/text.h"

#include <stdint.h>

/* In the largest unit of which it is a multiple: 20us. */
void exact_print_time(uint64_t ps, struct text *out);
/* Parts of RNG_CERTAIN, to a millionth of a percent: 30%. */
void exact_print_percent(uint64_t parts, struct text *out);
/* As few digits as possible: 0.3. */
void exact_print_decimal(double value, struct text *out);
/* A percentage, if one has this value (that of 30% is a multiple of 1 / RNG_CERTAIN, and not quite
 * 0.3), else a decimal number. */
void exact_print_share(double share, struct text *out);

#endif
