/* Lists of engines: read from their names, and tried one after the other. */
#include "routing/engines/engine_fallback.h"

#include "base/parse.h"
#include "base/text.h"
#include "routing/engines/disjoint.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *engine_list_names(char buffer[ENGINE_NAMES])
{
    size_t length = 0;
    buffer[0] = 0;
    for (size_t i = 0; engine_at(i) && length < ENGINE_NAMES; i++)
        length += (size_t)snprintf(buffer + length, ENGINE_NAMES - length, "%s%s", i ? ", " : "",
                                   engine_at(i)->name);
    return buffer;
}

bool engine_list_same(const struct engine_list *a, const struct engine_list *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->items[i] != b->items[i])
            return false;
    return true;
}

int engine_list_parse(struct engine_list *list, const char *text, struct err *err)
{
    char name[32];
    *list = (struct engine_list){0};
    for (;;) {
        size_t length = strcspn(text, ",");
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1),
                 text);
        const struct engine *engine = length < sizeof name ? engine_find(name) : NULL;
        if (!engine) {
            const char *names[ENGINE_LIST_TOP * 2];
            size_t count = 0;
            for (; engine_at(count) && count < ENGINE_LIST_TOP * 2; count++)
                names[count] = engine_at(count)->name;
            const char *near = nearest_word(name, names, count);
            return err_set(err, EINVAL, "there is no engine '%s'%s%s%s", name,
                           near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        }
        if (list->count == ENGINE_LIST_TOP)
            return err_set(err, EINVAL, "more than %d engines", ENGINE_LIST_TOP);
        list->items[list->count++] = engine;
        if (!text[length])
            return 0;
        text += length + 1;
    }
}

void engine_list_add(struct engine_list *list, const char *name)
{
    const struct engine *engine = engine_find(name);
    if (engine && list->count < ENGINE_LIST_TOP)
        list->items[list->count++] = engine;
}

bool engine_refused(int rc)
{
    return rc == -EMEDIUMTYPE || rc == -EDEADLK || rc == -EHOSTUNREACH || rc == -ENETUNREACH ||
           rc == -ENOSPC;
}

static int compute(const struct engine *engine, const struct network *network,
                   const struct engine_options *options, struct routes *routes, struct err *err)
{
    if (options->disjoint && (engine->renames || options->reversible)) {
        *routes = (struct routes){0};
        return err_set(err, EMEDIUMTYPE,
                       options->reversible ? "%s: 'disjoint' and 'reversible' exclude each other"
                                           : "%s: no 'disjoint', since each pair has its own LID",
                       engine->name);
    }
    /* An engine that spreads its routes over all VLs leaves half of them to the trees. */
    struct engine_options fewer = *options;
    fewer.max_vls = (engine_vls(options) + 1) / 2;
    int rc = engine->compute(network, options->disjoint ? &fewer : options, routes, err);
    if (!options->disjoint || (rc && rc != -ENOSPC))
        return rc;
    if (rc)
        rc = engine->compute(network, options, routes, err);
    if (rc)
        return rc;
    disjoint_apply(network, options, routes);
    return engine_settle(network, options, false, routes, err); /* user routes override trees */
}

int engine_list_compute(const struct engine_list *list, const struct network *network,
                        const struct engine_options *options, struct routes *routes,
                        const struct engine **chosen, struct err *err)
{
    struct engine_options tried = *options;
    struct text history = {0};
    uint64_t operations_before = 0;
    struct err reason = {0};
    int rc = -EINVAL;
    *routes = (struct routes){0};
    if (!network->switches.count && list->count) { /* two adapters, or none: nothing to route */
        routes_init(routes, network, list->items[0]->name);
        if (chosen)
            *chosen = list->items[0];
        return 0;
    }
    for (size_t i = 0; i < list->count; i++) {
        tried.caller_verifies = options->caller_verifies && i + 1 == list->count;
        rc = compute(list->items[i], network, &tried, routes, &reason);
        routes->operations += operations_before;
        if (chosen)
            *chosen = list->items[i];
        if (!engine_refused(rc))
            break;
        operations_before = routes->operations;
        const char *name = list->items[i]->name, *why = reason.message;
        size_t length = strlen(name);
        if (strncmp(why, name, length) == 0 && strncmp(why + length, ": ", 2) == 0)
            why += length + 2;
        text_printf(&history, "%s refused: %s; ", name, why);
    }
    if (!rc && history.length) {
        char note[sizeof routes->note];
        snprintf(note, sizeof note, "%.380s%s%s%.100s", history.data, routes->engine,
                 routes->note[0] ? ": " : "", routes->note);
        memcpy(routes->note, note, sizeof note);
    } else if (rc && history.length && list->count > 1) {
        err_set(err, -rc, "%.*s", (int)history.length - 2, history.data);
    } else if (rc) {
        *err = reason;
    }
    text_release(&history);
    return rc;
}
