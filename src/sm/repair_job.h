/* A job that changes as few entries as possible. */
#ifndef WEFT_SM_REPAIR_JOB_H
#define WEFT_SM_REPAIR_JOB_H

#include "sm/job.h"
#include "sm/reconfigure.h"
#include "sm/sm.h"

void repair_job_prepare(struct sm *sm, struct sm_job *job, const uint32_t *index,
                        enum plan_reason reason);
int repair_job_run(struct sm_job *job, struct err *err);
void repair_job_set_state(struct sm_job *job, const struct dependency_graph *graph,
                          struct verify_report *report, const uint32_t *ranks);

#endif
