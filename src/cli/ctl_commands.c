/* What `weft ctl` knows of the commands of the three servers: their lists of tables are the only
 * source. */
#include "cli/ctl.h"

#include "console/action.h"
#include "experiment/live/live.h"
#include "host/daemon/control/manager_command.h"
#include "host/server/session.h"

#include <string.h>

enum { HELP_COLUMN = 35, HELP_WIDTH = 80 };

/* Prints the words of a text in lines that begin at a column; the first one is already there. */
static void print_wrapped(FILE *to, const char *text)
{
    unsigned column = HELP_COLUMN;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column > HELP_COLUMN && column + length > HELP_WIDTH - 1) {
            fprintf(to, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        }
        fprintf(to, "%s%.*s", column > HELP_COLUMN ? " " : "", (int)length, text);
        column += (unsigned)length + (column > HELP_COLUMN);
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', to);
}

static bool has_row(control_tables tables, const struct control_command *row)
{
    for (unsigned i = 0; tables && tables[i]; i++)
        for (const struct control_command *other = tables[i]; other->name; other++)
            if (other == row)
                return true;
    return false;
}

void ctl_print_commands(FILE *to, control_tables tables, control_tables but, control_tables nor)
{
    for (unsigned i = 0; tables[i]; i++)
        for (const struct control_command *row = tables[i]; row->name; row++) {
            if (!row->help || has_row(but, row) || has_row(nor, row))
                continue;
            int width = fprintf(to, "  %s%s%s", row->name, *row->usage ? " " : "", row->usage);
            if (width < HELP_COLUMN - 1)
                fprintf(to, "%*s", HELP_COLUMN - width, "");
            else
                fprintf(to, "\n%*s", HELP_COLUMN, "");
            print_wrapped(to, row->help);
        }
}

void ctl_print_actions(FILE *to)
{
    fputs("\nActions change a fabric, and in 'weft live' also its traffic, groups, virtual\n"
          "machines and managers (weft-scenario(5)):\n\n",
          to);
    for (unsigned kind = 0; kind < ACTION_KINDS; kind++) {
        struct text usage = {0};
        action_print_usage(&action_rows[kind], &usage);
        fprintf(to, "  %s\n", usage.data);
        text_release(&usage);
    }
}

static const struct {
    const char *name, *how;
    const struct control_command *const *tables;
} servers[] = {
    {"weft sm", "; 'weft sm' has it (weft ctl --manager)", manager_control_tables},
    {"weft fabric", "; 'weft fabric' has it", fabric_control_tables},
    {"weft live", "; 'weft live' has it", live_control_tables},
};

void ctl_add_servers(struct text *out, const struct option_values *words)
{
    bool found = false;
    for (unsigned i = 0; i < sizeof servers / sizeof *servers; i++)
        if (control_find(servers[i].tables, words->items, (unsigned)words->count)) {
            text_puts(out, servers[i].how);
            found = true;
        }
    if (!found)
        text_puts(out, ": 'weft ctl --help' lists them");
}

bool ctl_is_manager_command(const struct option_values *words, bool *common)
{
    unsigned count = (unsigned)words->count;
    bool managers = count && control_has_word(manager_control_tables, words->items[0]);
    *common = managers && control_find(fabric_control_tables, words->items, count) != NULL;
    return managers;
}
