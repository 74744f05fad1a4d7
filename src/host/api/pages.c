/* Routes for the embedded files of the live page (web/files.h). A part of the SHA-256 digest of a
 * file is its ETag, by which browsers revalidate their copies. */
#include "host/api/api.h"

#include "web/files.h"

#include <nettle/sha2.h>

enum { FILES_MOST = 32, ETAG_BYTES = 33 };

/* The files are constant: routes of several servers share these. */
static struct http_file files[FILES_MOST];
static char etags[FILES_MOST][ETAG_BYTES];

static void make_etag(const struct web_file *file, char etag[ETAG_BYTES])
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx hash;
    sha256_init(&hash);
    sha256_update(&hash, file->size, file->data);
    sha256_digest(&hash, sizeof digest, digest);
    for (unsigned i = 0; i < ETAG_BYTES / 2; i++)
        snprintf(etag + 2 * (size_t)i, 3, "%02x", digest[i]);
}

size_t api_add_pages(struct http_route *routes, size_t room)
{
    size_t count = 0;
    for (size_t i = 0; i < web_file_count && count < room && i < FILES_MOST; i++) {
        const struct web_file *file = &web_files[i];
        make_etag(file, etags[i]);
        files[i] = (struct http_file){
            .type = file->type, .data = file->data, .bytes = file->size, .etag = etags[i]};
        routes[count++] =
            (struct http_route){.method = "GET", .path = file->path, .file = &files[i]};
    }
    return count;
}
