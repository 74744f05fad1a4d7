/* Writes the folder of a run: its texts, data, store and page. */

#include "base/file.h"
#include "experiment/report/report.h"
#include "experiment/report/run_text.h"
#include "experiment/store/result_store.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

int run_folder_make(const char *folder, struct err *err)
{
    if (strlen(folder) > PATH_BYTES / 2)
        return err_set(err, ENAMETOOLONG, "the folder's name is too long");
    if (mkdir(folder, 0777) < 0 && errno != EEXIST)
        return err_at(err, errno, folder, 0, "%s", strerror(errno));
    return 0;
}

/* Writes a file unless there was an error before, and empties the text. */
static void put_file(const char *folder, const char *name, struct text *text, int *status,
                     struct err *err)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (*status == 0)
        *status = file_write(path, text, err);
    text_clear(text);
}

static int write_store(const char *folder, const struct run_folder *run, struct err *err)
{
    struct result_store *store;
    struct text command = {0};
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/run.db", folder);
    if (unlink(path) < 0 && errno != ENOENT)
        return err_at(err, errno, path, 0, "%s", strerror(errno));
    int status = result_store_open(&store, path, RESULT_STORE_WRITE, err);
    if (status)
        return status;
    text_puts(&command, "weft sim ");
    text_put_shell_word(&command, run->record->file);
    for (size_t i = 0; i < run->setting_count; i++) {
        text_puts(&command, " --set ");
        text_put_shell_word(&command, run->settings[i]);
    }
    text_printf(&command, " --seed %" PRIu64, run->record->seed);
    struct result_run stored = {.seed = run->record->seed,
                                .replay = command.data,
                                .name = run->record->file,
                                .scenario = run->scenario,
                                .topology = run->topology->data,
                                .wall_s = run->wall_s};
    status = result_store_add(store, &stored, run->record, &run->record->results, err);
    result_store_close(store);
    text_release(&command);
    return status;
}

int run_folder_write(const char *folder, const struct run_folder *run, struct err *err)
{
    const struct run_record *record = run->record;
    struct text text = {0};
    int status = 0;
    for (size_t i = 0; i < record->events.count; i++)
        run_record_write_event(&record->events.items[i], &text);
    put_file(folder, "timeline.txt", &text, &status, err);
    run_record_write_summary(record, &text);
    put_file(folder, "summary.txt", &text, &status, err);
    run_record_write_json(record, &text);
    put_file(folder, "run.json", &text, &status, err);
    figures_write_csv(&record->results, &text);
    put_file(folder, "figures.csv", &text, &status, err);
    series_write_csv(&record->results, &text);
    put_file(folder, "series.csv", &text, &status, err);
    text_puts(&text, run->scenario);
    put_file(folder, "scenario.weft", &text, &status, err);
    text_append(&text, run->topology->data, run->topology->length);
    put_file(folder, "topology.net", &text, &status, err);
    text_release(&text);
    if (status == 0)
        status = write_store(folder, run, err);
    return status ? status : report_write_run(folder, err);
}
