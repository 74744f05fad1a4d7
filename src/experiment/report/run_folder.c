#include "experiment/report/run_folder.h"

#include "base/file.h"
#include "experiment/report/report.h"
#include "experiment/report/run_text.h"
#include "experiment/report/series_text.h"
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

static int write_one(const char *folder, const char *name, const struct text *text, struct err *err)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return file_write(path, text, err);
}

/* Each file is made of the run by one function. */
static void make_timeline(const struct run_folder *run, struct text *out)
{
    for (size_t i = 0; i < run->run_record->events.count; i++)
        run_record_write_event(&run->run_record->events.items[i], out);
}

static void make_summary(const struct run_folder *run, struct text *out)
{
    run_record_write_summary(run->run_record, out);
}

static void make_json(const struct run_folder *run, struct text *out)
{
    run_record_write_json(run->run_record, out);
}

static void make_figures(const struct run_folder *run, struct text *out)
{
    figures_write_csv(&run->run_record->results, out);
}

static void make_series(const struct run_folder *run, struct text *out)
{
    series_write_csv(&run->run_record->results, out);
}

static void make_scenario(const struct run_folder *run, struct text *out)
{
    text_puts(out, run->scenario);
}

static void make_topology(const struct run_folder *run, struct text *out)
{
    text_append(out, run->topology->data, run->topology->length);
}

static const struct {
    const char *name;
    void (*make)(const struct run_folder *run, struct text *out);
} files[] = {
    {"timeline.txt", make_timeline}, {"summary.txt", make_summary},
    {"run.json", make_json},         {"figures.csv", make_figures},
    {"series.csv", make_series},     {"scenario.weft", make_scenario},
    {"topology.net", make_topology},
};

static void write_command(const struct run_folder *run, struct text *out)
{
    text_puts(out, "weft sim ");
    text_put_shell_word(out, run->run_record->file);
    for (size_t i = 0; i < run->setting_count; i++) {
        text_puts(out, " --set ");
        text_put_shell_word(out, run->settings[i]);
    }
    text_printf(out, " --seed %" PRIu64, run->run_record->seed);
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
    write_command(run, &command);
    struct result_run stored = {.seed = run->run_record->seed,
                                .replay = command.data,
                                .name = run->run_record->file,
                                .scenario = run->scenario,
                                .topology = run->topology->data,
                                .wall_s = run->wall_s};
    status = result_store_add(store, &stored, run->run_record, &run->run_record->results, err);
    result_store_close(store);
    text_release(&command);
    return status;
}

int run_folder_write(const char *folder, const struct run_folder *run, struct err *err)
{
    int status = 0;
    for (unsigned i = 0; i < sizeof files / sizeof files[0] && status == 0; i++) {
        struct text text = {0};
        files[i].make(run, &text);
        status = write_one(folder, files[i].name, &text, err);
        text_release(&text);
    }
    if (status == 0)
        status = write_store(folder, run, err);
    return status ? status : report_write_run(folder, err);
}
