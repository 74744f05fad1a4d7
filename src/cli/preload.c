/* Finds the preload library, refuses programs that ignore it, and starts a program with it. */
#include "cli/preload.h"

#include "cli/command.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef WEFT_PRELOAD_PATH
#define WEFT_PRELOAD_PATH "/usr/lib/weft/libweft-umad.so"
#endif

enum { EXIT_CANNOT_EXECUTE = 126, EXIT_NOT_FOUND = 127, PATH_BYTES = 4096, SCRIPTS_MOST = 5 };

void preload_find(char *path, size_t size)
{
    const char *given = getenv("WEFT_PRELOAD");
    char self[PATH_BYTES];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (given && *given) {
        snprintf(path, size, "%s", given);
        return;
    }
    self[length > 0 ? length : 0] = 0;
    char *slash = strrchr(self, '/');
    if (slash) {
        *slash = 0;
        snprintf(path, size, "%s/preload/libweft-umad.so", self);
        if (access(path, R_OK) == 0)
            return;
    }
    snprintf(path, size, "%s", WEFT_PRELOAD_PATH);
}

/* ---- programs that ignore LD_PRELOAD ---- */

/* As execvp() searches. False: not found. */
static bool search_path(const char *name, char *path, size_t size)
{
    if (strchr(name, '/')) {
        snprintf(path, size, "%s", name);
        return access(path, X_OK) == 0;
    }
    for (const char *at = getenv("PATH"); at; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
        int length = (int)strcspn(at, ":");
        snprintf(path, size, "%.*s%s%s", length, at, length ? "/" : "./", name);
        if (access(path, X_OK) == 0)
            return true;
    }
    return false;
}

/* Whether an ELF file of this machine names a dynamic loader. */
static bool is_dynamic(const uint8_t *file, size_t bytes)
{
    Elf64_Ehdr header;
    if (bytes < sizeof header)
        return false;
    memcpy(&header, file, sizeof header);
    if (header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return false;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        size_t at = header.e_phoff + (size_t)i * header.e_phentsize;
        if (at > bytes || bytes - at < sizeof segment)
            return false;
        memcpy(&segment, file + at, sizeof segment);
        if (segment.p_type == PT_INTERP)
            return true;
    }
    return false;
}

static int check_program(const char *path, unsigned depth, struct err *err)
{
    uint8_t file[PATH_BYTES];
    char interpreter[PATH_BYTES];
    struct stat found;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &found) < 0) {
        if (fd >= 0)
            close(fd);
        return err_set(err, EACCES,
                       "'%.200s' cannot be read, so that it is not known whether it would use the "
                       "simulated fabric: not started",
                       path);
    }
    ssize_t bytes = read(fd, file, sizeof file);
    bool privileged =
        found.st_mode & (S_ISUID | S_ISGID) || fgetxattr(fd, "security.capability", NULL, 0) > 0;
    close(fd);
    if (privileged)
        return err_set(err, EPERM,
                       "'%.200s' is set-uid, set-gid or has file capabilities and ignores the "
                       "preload library: it would use the real machine; not started",
                       path);
    if (bytes >= 3 &&
        memcmp(file, "#!", 2) == 0) { /* a script: its interpreter is the first word */
        size_t begin = 2, end;
        while (begin < (size_t)bytes && (file[begin] == ' ' || file[begin] == '\t'))
            begin++;
        for (end = begin; end < (size_t)bytes && !strchr(" \t\n", file[end]);)
            end++;
        snprintf(interpreter, sizeof interpreter, "%.*s", (int)(end - begin),
                 (const char *)file + begin);
        return depth < SCRIPTS_MOST ? check_program(interpreter, depth + 1, err) : 0;
    }
    bool elf = bytes >= SELFMAG && memcmp(file, ELFMAG, SELFMAG) == 0;
    if (!elf || is_dynamic(file, (size_t)bytes))
        return 0; /* what is not a program is executed by a shell or not at all */
    return err_set(err, EINVAL,
                   "'%.200s' is statically linked (or for another processor) and ignores the "
                   "preload library: it would use the real machine; not started",
                   path);
}

static const char handshake_name[] = "weft_umad_handshake";

int preload_check(const char *library, const char *name, struct err *err)
{
    char path[PATH_BYTES];
    /* The loader reports a file that it cannot preload, and then starts the program without it. */
    void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    if (!handle)
        return err_set(err, ENOENT,
                       "the preload library cannot be loaded: %.300s; WEFT_PRELOAD names another",
                       dlerror());
    bool ours = dlsym(handle, handshake_name);
    dlclose(handle);
    if (!ours)
        return err_set(err, EINVAL,
                       "'%.200s' is not weft's preload library (WEFT_PRELOAD names it)", library);
    return search_path(name, path, sizeof path) ? check_program(path, 0, err) : 0;
}

/* ---- the second step ---- */

int preload_start(char **command)
{
    const char *library = getenv("LD_PRELOAD");
    /* ISO C forbids the conversion of an object pointer. */
    union {
        void *symbol;
        int (*call)(void);
    } handshake = {.symbol = dlsym(RTLD_DEFAULT, handshake_name)};
    if (!handshake.symbol) {
        fprintf(
            stderr,
            "weft fabric: the preload library is not loaded (LD_PRELOAD=%s): '%s' is not started\n",
            library ? library : "", command[0]);
        return EXIT_USAGE;
    }
    if (handshake.call() < 0) {
        fprintf(stderr, "weft fabric: the fabric does not answer: '%s' is not started\n",
                command[0]);
        return EXIT_USAGE;
    }
    execvp(command[0], command);
    int error = errno;
    fprintf(stderr, "weft fabric: cannot run '%s': %s\n", command[0], strerror(error));
    return error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
}
