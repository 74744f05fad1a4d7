/* What a configuration does, as text: each line that was read, all keys in weft's format, and the
 * section about OpenSM's keys in weft-sm.conf(5). */
#include "host/manager/config_key.h"

#include <string.h>

void config_print_lines(const struct config *config, struct text *out)
{
    static const char *const prefixes[] = {[CONFIG_IN_FORCE] = "",
                                           [CONFIG_DEFAULT] = "",
                                           [CONFIG_NO_EFFECT] = "no effect: ",
                                           [CONFIG_PARTLY] = "warning: ",
                                           [CONFIG_ERROR] = "error: "};
    unsigned counts[CONFIG_ERROR + 1] = {0};
    for (size_t i = 0; i < config->lines.count; i++) {
        const struct config_line *line = &config->lines.items[i];
        bool quiet = line->effect == CONFIG_IN_FORCE && !line->text[0];
        text_printf(out, "%s:%u: %s %s: %s%s\n", line->file, line->line, line->key, line->value,
                    line->standard ? "no effect (OpenSM's default): " : prefixes[line->effect],
                    quiet ? "in force" : line->text);
        counts[line->effect]++;
    }
    text_printf(out, "%zu keys: %u in force, %u OpenSM's defaults, %u without effect, %u errors\n",
                config->lines.count, counts[CONFIG_IN_FORCE] + counts[CONFIG_PARTLY],
                counts[CONFIG_DEFAULT], counts[CONFIG_NO_EFFECT], counts[CONFIG_ERROR]);
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
