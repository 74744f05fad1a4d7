/* What a configuration does, as text: each line that was read, all keys in weft's format, and the
 * section about OpenSM's keys in weft-sm.conf(5). */
#include "host/manager/config_key.h"

#include <string.h>

/* Lines that set a key to another value than its default, by number from 1. */
struct changing_lines {
    const struct config *config;
    VEC(bool) changes;
};

/* Numbers, also none, and flags are equal in any notation. */
static bool is_same_value(const char *a, const char *b)
{
    uint64_t number[2] = {0};
    bool flag[2];
    if (config_parse_flag(a, &flag[0]) && config_parse_flag(b, &flag[1]))
        return flag[0] == flag[1];
    return (parse_number(a, &number[0]) || strcmp(a, "none") == 0) && parse_number(b, &number[1]) &&
           number[0] == number[1];
}

static void note_change(void *context, const char *key, const char *from, const char *to, bool live)
{
    struct changing_lines *lines = context;
    const struct config *config = lines->config;
    size_t index = (size_t)(config_key_find(key) - config_keys);
    (void)live;
    if (!is_same_value(from, config_keys[index].secret ? config->values[index] : to))
        *vec_at(&lines->changes, config->set_by[index]) = true;
}

void config_print_lines(const struct config *config, bool all, struct text *out)
{
    static const char *const prefixes[] = {[CONFIG_IN_FORCE] = "",
                                           [CONFIG_DEFAULT] = "",
                                           [CONFIG_NO_EFFECT] = "no effect: ",
                                           [CONFIG_PARTLY] = "warning: ",
                                           [CONFIG_UNKNOWN] = "warning: ignored: ",
                                           [CONFIG_ERROR] = "error: "};
    unsigned counts[CONFIG_ERROR + 1] = {0};
    struct changing_lines lines = {.config = config};
    struct config fresh;
    config_init(&fresh);
    config_compare(&fresh, config, note_change, &lines);
    config_release(&fresh);
    for (size_t i = 0; i < config->lines.count; i++) {
        const struct config_line *line = &config->lines.items[i];
        bool quiet = line->effect == CONFIG_IN_FORCE && !line->text[0];
        counts[line->effect]++;
        bool sets_default = line->effect == CONFIG_IN_FORCE && !*vec_at(&lines.changes, i + 1);
        if (!all && (sets_default || line->standard || line->effect == CONFIG_DEFAULT))
            continue;
        text_printf(out, "%s:%u: %s %s: %s%s\n", line->file, line->line, line->key, line->value,
                    line->standard ? "no effect (OpenSM's default): " : prefixes[line->effect],
                    quiet ? "in force" : line->text);
    }
    text_printf(out,
                "%zu keys: %u in force, %u OpenSM's defaults, %u without effect, %u unknown, "
                "%u errors%s\n",
                config->lines.count, counts[CONFIG_IN_FORCE] + counts[CONFIG_PARTLY],
                counts[CONFIG_DEFAULT], counts[CONFIG_NO_EFFECT], counts[CONFIG_UNKNOWN],
                counts[CONFIG_ERROR], all ? "" : "; --all also shows those that change nothing");
    vec_release(&lines.changes);
}

void config_print(const struct config *config, struct text *out)
{
    for (size_t i = 0; config_key(i); i++) {
        const struct key *key = &config_keys[i];
        const char *value = config->values[i];
        char standard[CONFIG_VALUE_BYTES];
        const char *quote = value && strchr("\"'", value[0]) ? "\"" : "";
        if (value && !config->from_key_file[i])
            text_printf(out, "%s %s%s%s\n", key->name, quote, value, quote);
        else
            text_printf(out, "#%s %s\n", key->name,
                        config->from_key_file[i] ? "(from the key file)"
                                                 : config_default(key, standard));
    }
}

/* A line of words, broken before WIDTH columns. */
static void print_wrapped(struct text *out, const char *line)
{
    enum { WIDTH = 70 };
    unsigned column = 0;
    while (*line) {
        unsigned length = (unsigned)strcspn(line, " ");
        if (column && column + 1 + length > WIDTH) {
            text_printf(out, "\n   ");
            column = 3;
        }
        text_printf(out, "%s%.*s", column ? " " : "", (int)length, line);
        column += length + (column ? 1 : 0);
        line += length + (line[length] == ' ');
    }
    text_putc(out, '\n');
}

/* The row of its family ("cc_*") says the same. */
static bool is_in_family(const struct key *key)
{
    for (size_t i = 0; i < config_key_count; i++) {
        const struct key *family = &config_keys[i];
        if (family != key && family->reason == key->reason &&
            config_key_is_named(family, key->name))
            return true;
    }
    return false;
}

void config_print_opensm_keys(struct text *out)
{
    for (size_t i = 0; i < config_key_count; i++) {
        const struct key *key = &config_keys[i];
        char line[512];
        if (key->kind < RENAMED || (key->kind == NO_EFFECT && is_in_family(key)))
            continue;
        if (key->kind == RENAMED)
            snprintf(line, sizeof line, "%s: %s%s%s%s%s", key->name, key->ours,
                     key->unit ? ", in " : "", key->unit ? key->unit : "", key->reason ? "; " : "",
                     key->reason ? key->reason : "");
        else
            snprintf(line, sizeof line, "%s: %s%s", key->name,
                     key->kind == NO_EFFECT ? "no effect: " : "", key->reason);
        print_wrapped(out, line);
    }
}
