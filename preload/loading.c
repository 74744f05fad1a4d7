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

typedef void *look_up(void *handle, const char *name);
typedef void *look_up_version(void *handle, const char *name, const char *version);

/* ---- the functions of the C library ----
 *
 * A sanitizer looks its functions up before it can run those that it intercepts: until the look-up
 * of the program has been passed on, nothing here calls another library. */

static bool begins(const char *text, const char *prefix)
{
    while (*prefix && *text == *prefix)
        text++, prefix++;
    return !*prefix;
}

static bool equal(const char *one, const char *other)
{
    while (*one && *one == *other)
        one++, other++;
    return *one == *other;
}

static const char *file_of(const char *path)
{
    const char *file = path;
    for (; *path; path++)
        file = *path == '/' ? path + 1 : file;
    return file;
}

/* The symbol table ends where the string table begins: so do all that GNU and LLVM linkers make. */
static void *search_object(const struct link_map *object, const char *name)
{
    const ElfW(Sym) *symbols = NULL;
    const char *strings = NULL;
    for (const ElfW(Dyn) *dynamic = object->l_ld; dynamic->d_tag != DT_NULL; dynamic++) {
        if (dynamic->d_tag == DT_SYMTAB)
            symbols = (const void *)dynamic->d_un.d_ptr;
        if (dynamic->d_tag == DT_STRTAB)
            strings = (const void *)dynamic->d_un.d_ptr;
    }
    for (; symbols && (const char *)symbols < strings; symbols++)
        if (symbols->st_shndx != SHN_UNDEF && equal(strings + symbols->st_name, name))
            return (void *)(object->l_addr + symbols->st_value);
    return NULL;
}

/* Two threads may do this at the same time: both store the same pointer. */
static void *find_real(void **kept, const char *name)
{
    void *found = __atomic_load_n(kept, __ATOMIC_RELAXED);
    if (found)
        return found;
    for (const struct link_map *object = _r_debug.r_map; object && !found; object = object->l_next)
        if (begins(file_of(object->l_name), "libc.so.") ||
            begins(file_of(object->l_name), "libdl.so."))
            found = search_object(object, name);
    if (!found)
        __builtin_trap(); /* not glibc */
    __atomic_store_n(kept, found, __ATOMIC_RELAXED);
    return found;
}

static void *kept_dlsym, *kept_dlvsym;

/* ---- look-ups in libibverbs ---- */

static bool is_verbs_name(const void *handle, const char *name)
{
    return handle != RTLD_NEXT && name &&
           (begins(name, "ibv_") || begins(name, "_ibv_") || begins(name, "rdma_"));
}

/* `found`, or the function that replaces it. */
static __attribute__((noinline)) void *replace(void *found, const char *name)
{
    Dl_info place;
    if (!found || !dladdr(found, &place) || !place.dli_fname)
        return found;
    const char *file = file_of(place.dli_fname);
    if ((!begins(file, "libibverbs.so") && !begins(file, "librdmacm.so")) ||
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
    if (is_verbs_name(handle, name) && !equal(version, "IBVERBS_1.0"))
        return replace(next(handle, name, version), name);
    return next(handle, name, version);
}
