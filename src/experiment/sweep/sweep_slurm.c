/* The script is self-contained: it can be kept and submitted again, and needs only the task number
 * of the environment. */
#include "experiment/sweep/sweep_slurm.h"

#include <inttypes.h>
#include <string.h>

/* sbatch splits a line at blanks, except inside double quotes. */
static void write_option(struct text *out, const char *format, ...)
{
    struct text option = {0};
    text_put_arguments(&option, format);
    const char *quote = strpbrk(option.data, " \t") ? "\"" : "";
    text_printf(out, "#SBATCH %s%s%s\n", quote, option.data, quote);
    text_release(&option);
}

void slurm_write_script(const struct slurm_job *job, struct text *out)
{
    const char *name = strrchr(job->sweep, '/');
    text_puts(out, "#!/bin/sh\n");
    write_option(out, "--job-name=%s", name ? name + 1 : job->sweep);
    write_option(out, "--array=1-%" PRIu64, job->tasks);
    write_option(out, "--output=%s/task-%%a.log", job->folder);
    for (size_t i = 0; i < job->option_count; i++)
        write_option(out, "%s", job->options[i]);
    text_printf(out,
                "#\n# Task N of %" PRIu64 " runs its share of the sweep into task-N.db. By hand:\n"
                "#   SLURM_ARRAY_TASK_ID=N sh array.sh\n"
                "# A task that was cut short goes on where it was. When all are through:\n#   ",
                job->tasks);
    slurm_write_merge(job, job->store ? job->store : "STORE", out);
    text_puts(out, "\nset -eu\nexec ");
    text_put_shell_word(out, job->program);
    text_puts(out, " sweep ");
    text_put_shell_word(out, job->sweep);
    text_printf(out, " \\\n    --task \"$SLURM_ARRAY_TASK_ID/%" PRIu64 "\" --store ", job->tasks);
    text_put_shell_word(out, job->folder);
    text_puts(out, "/\"task-$SLURM_ARRAY_TASK_ID.db\"");
    text_puts(out, " \\\n    --jobs \"${SLURM_CPUS_PER_TASK:-1}\"");
    text_printf(out, " --seed %" PRIu64 " --repeat %" PRIu64, job->seed, job->repeat);
    if (job->retry)
        text_puts(out, " --retry");
    if (job->only) {
        text_puts(out, " --only ");
        text_put_shell_word(out, job->only);
    }
    if (job->store) {
        text_puts(out, " \\\n    --skip ");
        text_put_shell_word(out, job->store);
    }
    text_putc(out, '\n');
}

void slurm_write_merge(const struct slurm_job *job, const char *store, struct text *out)
{
    text_puts(out, "weft sweep merge ");
    text_put_shell_word(out, job->folder);
    text_puts(out, "/task-*.db -o ");
    text_put_shell_word(out, store);
}
