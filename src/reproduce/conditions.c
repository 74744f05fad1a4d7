/* Reads conditions on parameters, and applies them. */
#include "reproduce/conditions.h"

#include <assert.h>
#include <fnmatch.h>
#include <string.h>

enum { VALUES_MOST = 64 };

bool condition_read(struct condition *condition, const char *text, struct arena *arena)
{
    const char *equals = strchr(text, '=');
    *condition = (struct condition){0};
    if (!equals || equals == text || !equals[1])
        return false;
    condition->name = arena_strndup(arena, text, (size_t)(equals - text));
    condition->values = arena_alloc(arena, VALUES_MOST * sizeof *condition->values);
    for (const char *value = equals + 1;; value++) {
        size_t length = strcspn(value, ",");
        if (length == 0 || condition->count == VALUES_MOST)
            return false;
        condition->values[condition->count++] = arena_strndup(arena, value, length);
        value += length;
        if (!*value)
            break;
    }
    return true;
}

bool conditions_add(struct conditions *conditions, const char *text, struct arena *arena)
{
    struct condition condition;
    bool right = condition_read(&condition, text, arena);
    if (right)
        vec_push(conditions, condition);
    return right;
}

void conditions_parse(struct conditions *conditions, const char *text, struct arena *arena)
{
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t length = strcspn(text, " ");
        bool right = conditions_add(conditions, arena_strndup(arena, text, length), arena);
        assert(right);
        (void)right;
        text += length;
    }
}

void conditions_release(struct conditions *conditions)
{
    vec_release(conditions);
}

static bool matches_value(const struct condition *condition, const char *value)
{
    for (size_t i = 0; i < condition->count; i++)
        if (fnmatch(condition->values[i], value, 0) == 0)
            return true;
    return false;
}

bool conditions_fit(const struct conditions *conditions, const struct result_parameter *parameters,
                    size_t count, bool absent_fits)
{
    for (size_t i = 0; i < conditions->count; i++) {
        const char *value = result_parameter(parameters, count, conditions->items[i].name);
        if (value ? !matches_value(&conditions->items[i], value) : !absent_fits)
            return false;
    }
    return true;
}
