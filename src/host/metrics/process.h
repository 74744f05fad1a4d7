/* Metrics of this process under the names of Prometheus' client libraries. */
#ifndef WEFT_HOST_METRICS_PROCESS_H
#define WEFT_HOST_METRICS_PROCESS_H

#include "base/text.h"

void process_metrics_print(struct text *out);

#endif
