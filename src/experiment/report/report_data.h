/* CSV, as far as reports need it. */
#ifndef WEFT_EXPERIMENT_REPORT_REPORT_DATA_H
#define WEFT_EXPERIMENT_REPORT_REPORT_DATA_H

#include "base/text.h"

/* Quoted where it must be. */
void csv_put(struct text *out, const char *field);
void csv_put_number(struct text *out, double value); /* nothing where there is no number */

#endif
