/* Orders of updates: what is accepted can be checked as a transition and is the same after writing
 * and reading. */
#include "routing/check/transition.h"
#include "routing/files/update_plan_text.h"
#include "small_network.h"

static void check_plan(const struct network *network, const struct update_plan *plan)
{
    uint32_t next = 0;
    for (size_t i = 0; i < plan->waves.count; i++) {
        const struct update_wave *wave = &plan->waves.items[i];
        bool only_a_drain = wave->drain && i + 1 == plan->waves.count && !plan->stuck_vls;
        require(wave->first == next && (wave->count > 0 || only_a_drain));
        next += plan->waves.items[i].count;
    }
    require(next == plan->updates.count);
    require(plan->stuck_vls || !plan->stuck.count);
    for (size_t i = 0; i < plan->updates.count; i++) {
        const struct table_update *update = &plan->updates.items[i];
        require(update->at < network->switches.count && update->lid_count > 0);
        require(update->first_lid + update->lid_count <= NETWORK_TOP_LID + 1);
    }
}

static void check_transition(const struct network *network, const struct update_plan *plan)
{
    struct routes before, after;
    struct transition_report report;
    compute(&engine_pira, network, &before);
    compute(&engine_fera, network, &after);
    verify_transition(network, &before, &after, plan, &report);
    require(report.safe == (report.cycle.cycle.count == 0));
    require(report.safe || report.when != TRANSITION_WAVE || report.wave < plan->waves.count);
    transition_report_release(&report);
    routes_release(&before);
    routes_release(&after);
}

static void check_writing(const struct network *network, const struct update_plan *plan)
{
    struct update_plan again;
    struct err err;
    struct text first = {0}, second = {0};
    text_puts(&first, ""); /* an empty plan has no text */
    text_puts(&second, "");
    update_plan_write(plan, network, &first);
    require(update_plan_read(&again, network, from_text("written", first.data, &err)) == 0);
    update_plan_write(&again, network, &second);
    require(strcmp(first.data, second.data) == 0);
    update_plan_release(&again);
    text_release(&first);
    text_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { STRETCHES_AT_MOST = 200 }; /* each costs the same; many take long without showing more */
    char *text = text_of(data, size);
    if (!text)
        return 0;
    struct network network;
    struct update_plan plan;
    struct err err = {0};
    small_network(&network);
    int status = update_plan_read(&plan, &network, from_text("fuzz", text, &err));
    if (status) {
        check_error(status, &err);
        require(!plan.updates.items && !plan.waves.items);
    } else {
        check_plan(&network, &plan);
        check_writing(&network, &plan);
        if (plan.waves.count <= STRETCHES_AT_MOST)
            check_transition(&network, &plan);
        update_plan_release(&plan);
    }
    network_release(&network);
    mem_free(text);
    return 0;
}
