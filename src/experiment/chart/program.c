/* Temporary files instead of pipes: neither side can block the other. */
#include "experiment/chart/program.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_LIMIT = 64 << 20 };

/* files[] become standard input, output and error. Returns the status of wait(), or -errno. */
static int spawn(const char *const argv[], const char *package, FILE *const files[3],
                 struct err *err)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int result;
    posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < 3; i++)
        posix_spawn_file_actions_adddup2(&actions, fileno(files[i]), i);
    int error = posix_spawnp(&child, argv[0], &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error == ENOENT)
        return err_set(err, error, "%s is not installed; it is in the Debian package %s", argv[0],
                       package);
    if (error)
        return err_set(err, error, "cannot run %s: %s", argv[0], strerror(error));
    while (waitpid(child, &result, 0) < 0)
        if (errno != EINTR)
            return err_set(err, errno, "%s: %s", argv[0], strerror(errno));
    return result;
}

int program_filter(const char *const argv[], const char *package, const struct text *input,
                   struct text *output, struct err *err)
{
    FILE *files[3] = {tmpfile(), tmpfile(), tmpfile()};
    char line[256] = "";
    int status = 0;
    if (!files[0] || !files[1] || !files[2])
        status = err_set(err, errno, "no temporary file: %s", strerror(errno));
    else if (fwrite(input->data ? input->data : "", 1, input->length, files[0]) != input->length ||
             fflush(files[0]) != 0 || lseek(fileno(files[0]), 0, SEEK_SET) != 0)
        status = err_set(err, EIO, "a temporary file cannot be written: %s", strerror(errno));
    if (status == 0)
        status = spawn(argv, package, files, err);
    if (status > 0) {
        rewind(files[2]);
        while (fgets(line, sizeof line, files[2]) && line[strspn(line, " \t\r\n")] == '\0')
            ;
        line[strcspn(line, "\r\n")] = '\0';
        status = err_set(err, EIO, "%s failed%s%s", argv[0], line[0] ? ": " : "", line);
    } else if (status == 0) {
        rewind(files[1]);
        status = text_read(output, files[1], OUTPUT_LIMIT);
        if (status < 0)
            err_set(err, -status, "what %s printed: %s", argv[0], strerror(-status));
    }
    for (int i = 0; i < 3; i++)
        if (files[i])
            fclose(files[i]);
    return status;
}
