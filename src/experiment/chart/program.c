#include "experiment/chart/program.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Temporary files instead of pipes: no side can block the other. */
struct streams {
    FILE *in, *out, *error;
};

static int open_streams(struct streams *streams, const struct text *input, struct err *err)
{
    *streams = (struct streams){tmpfile(), tmpfile(), tmpfile()};
    if (!streams->in || !streams->out || !streams->error)
        return err_set(err, errno, "no temporary file: %s", strerror(errno));
    const char *data = input->data ? input->data : "";
    if (fwrite(data, 1, input->length, streams->in) != input->length || fflush(streams->in) != 0 ||
        lseek(fileno(streams->in), 0, SEEK_SET) != 0)
        return err_set(err, EIO, "a temporary file cannot be written: %s", strerror(errno));
    return 0;
}

static int spawn(const char *const *argv, const char *package, const struct streams *streams,
                 int *result, struct err *err)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(streams->in), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(streams->out), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(streams->error), STDERR_FILENO);
    int error = posix_spawnp(&child, argv[0], &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error == ENOENT)
        return err_set(err, error, "%s is not installed; it is in the Debian package %s", argv[0],
                       package);
    if (error)
        return err_set(err, error, "cannot run %s: %s", argv[0], strerror(error));
    while (waitpid(child, result, 0) < 0)
        if (errno != EINTR)
            return err_set(err, errno, "%s: %s", argv[0], strerror(errno));
    return 0;
}

static int program_failed(const char *program, FILE *output, struct err *err)
{
    char line[256] = "";
    rewind(output);
    while (fgets(line, sizeof line, output) && line[strspn(line, " \t\r\n")] == '\0')
        ;
    line[strcspn(line, "\r\n")] = '\0';
    return err_set(err, EIO, "%s failed%s%s", program, line[0] ? ": " : "", line);
}

int program_run(const char *const *argv, const char *package, const struct text *input,
                size_t limit, struct text *output, struct err *err)
{
    struct streams streams;
    int result = 0, status = open_streams(&streams, input, err);
    if (status == 0)
        status = spawn(argv, package, &streams, &result, err);
    if (status == 0 && !(WIFEXITED(result) && WEXITSTATUS(result) == 0))
        status = program_failed(argv[0], streams.error, err);
    if (status == 0) {
        rewind(streams.out);
        status = text_read(output, streams.out, limit);
        if (status < 0)
            err_set(err, -status, "what %s printed: %s", argv[0], strerror(-status));
    }
    FILE *files[] = {streams.in, streams.out, streams.error};
    for (size_t i = 0; i < 3; i++)
        if (files[i])
            fclose(files[i]);
    return status;
}
