/* Programs that load libibverbs themselves: dlopen("libibverbs.so.1"), then dlsym() or dlvsym().
 *
 * Such a look-up names the handle of the real library, so a preloaded definition is not found. This
 * library stands in for both functions: what a look-up finds in libibverbs is replaced by the
 * function of the same name in preload/verbs, if there is one. What the real library does not have
 * stays not found. All other look-ups are passed on by a jump, because glibc takes the caller of
 * RTLD_NEXT from the return address: this file must be compiled with sibling calls. The functions
 * themselves are found in the symbol tables of the C library, since dlsym() would be this one. */
#include "client.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

typedef void *look_up(void *handle, const char *name);
typedef void *look_up_version(void *handle, const char *name, const char *version);

/* ---- the functions of the C library ---- */

struct wanted {
    const char *name;
    void *found;
};

/* The symbol table ends where the string table begins: so do all that GNU and LLVM linkers make. */
static int search_object(struct dl_phdr_info *object, size_t size, void *context)
{
    struct wanted *wanted = context;
    const ElfW(Dyn) *dynamic = NULL;
    const ElfW(Sym) *symbols = NULL;
    const char *strings = NULL;
    (void)size;
    const char *file = strrchr(object->dlpi_name, '/');
    if (!file || (strncmp(file, "/libc.so.", 9) != 0 && strncmp(file, "/libdl.so.", 10) != 0))
        return 0;
    for (unsigned i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
        if (dynamic->d_tag == DT_SYMTAB)
            symbols = (const void *)dynamic->d_un.d_ptr;
        if (dynamic->d_tag == DT_STRTAB)
            strings = (const void *)dynamic->d_un.d_ptr;
    }
    for (; symbols && (const char *)symbols < strings; symbols++)
        if (symbols->st_shndx != SHN_UNDEF && strcmp(strings + symbols->st_name, wanted->name) == 0)
            wanted->found = (void *)(object->dlpi_addr + symbols->st_value);
    return wanted->found != NULL;
}

/* Two threads may do this at the same time: both store the same pointer. Its local variables must
 * not become those of dlsym(): a frame with a stack protector cannot end with a jump. */
static __attribute__((noinline)) void *find_real(void **kept, const char *name)
{
    void *found = __atomic_load_n(kept, __ATOMIC_RELAXED);
    if (found)
        return found;
    struct wanted wanted = {.name = name};
    dl_iterate_phdr(search_object, &wanted);
    if (!wanted.found)
        __builtin_trap(); /* not glibc */
    __atomic_store_n(kept, wanted.found, __ATOMIC_RELAXED);
    return wanted.found;
}

static void *kept_dlsym, *kept_dlvsym;

/* ---- look-ups in libibverbs ---- */

static bool is_verbs_name(const void *handle, const char *name)
{
    return handle != RTLD_NEXT && name &&
           (strncmp(name, "ibv_", 4) == 0 || strncmp(name, "_ibv_", 5) == 0);
}

/* `found`, or the function that replaces it. */
static __attribute__((noinline)) void *replace(void *found, const char *name)
{
    Dl_info place;
    if (!found || !dladdr(found, &place) || !place.dli_fname)
        return found;
    const char *file = strrchr(place.dli_fname, '/');
    if (strncmp(file ? file + 1 : place.dli_fname, "libibverbs.so", 13) != 0 ||
        !dladdr((void *)(uintptr_t)client_prepare, &place))
        return found;
    void *self = dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!self)
        return found;
    look_up *next = (look_up *)(uintptr_t)find_real(&kept_dlsym, "dlsym");
    void *ours = next(self, name);
    if (!ours)
        (void)dlerror(); /* the program's look-up has succeeded */
    dlclose(self);
    return ours ? ours : found;
}

WEFT_EXPORT void *dlsym(void *restrict handle, const char *restrict name)
{
    look_up *next = (look_up *)(uintptr_t)find_real(&kept_dlsym, "dlsym");
    if (is_verbs_name(handle, name))
        return replace(next(handle, name), name);
    return next(handle, name);
}

/* The functions of version 1.0 have other structures, which nothing here replaces. */
WEFT_EXPORT void *dlvsym(void *restrict handle, const char *restrict name,
                         const char *restrict version)
{
    look_up_version *next = (look_up_version *)(uintptr_t)find_real(&kept_dlvsym, "dlvsym");
    if (is_verbs_name(handle, name) && strcmp(version, "IBVERBS_1.0") != 0)
        return replace(next(handle, name, version), name);
    return next(handle, name, version);
}
