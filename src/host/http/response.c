/* Answers: their headers, files with their validators, and generated content. */
#include "host/http/internal.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { GENERATE_BYTES = 256 * 1024 };

/* Scripts and styles only from this server, no frames, no forms, no plugins. */
static const char content_policy[] =
    "default-src 'self'; img-src 'self' data: blob:; worker-src 'self' blob:; object-src 'none'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

void http_refuse(struct http_response *response, unsigned status, const char *format, ...)
{
    response->status = status;
    response->type = "text/plain; charset=utf-8";
    text_clear(&response->body);
    text_put_arguments(&response->body, format);
    text_putc(&response->body, '\n');
}

enum MHD_Result http_queue(struct http_exchange *exchange, unsigned status, const char *type,
                           const char *cache, struct MHD_Response *response)
{
    if (type)
        mhd.add_response_header(response, "Content-Type", type);
    mhd.add_response_header(response, "Cache-Control", cache);
    mhd.add_response_header(response, "Content-Security-Policy", content_policy);
    mhd.add_response_header(response, "X-Content-Type-Options", "nosniff");
    mhd.add_response_header(response, "X-Frame-Options", "DENY");
    mhd.add_response_header(response, "Referrer-Policy", "no-referrer");
    mhd.add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    enum MHD_Result result = mhd.queue_response(exchange->connection, status, response);
    mhd.destroy_response(response);
    return result;
}

static struct MHD_Response *buffer_response(const void *data, size_t bytes,
                                            enum MHD_ResponseMemoryMode mode)
{
    struct MHD_Response *response =
        mhd.create_response_from_buffer(bytes, bytes ? (void *)data : "", mode);
    if (!response)
        mem_fail("an HTTP response");
    return response;
}

/* Whether a comma-separated header has an entry. */
static bool lists(const char *list, const char *entry)
{
    size_t length = strlen(entry);
    for (const char *at = list; at && *at; at = strchr(at, ',')) {
        at += strspn(at, ", \t");
        if (strncasecmp(at, entry, length) == 0 && strchr(",; \t", at[length]))
            return true;
    }
    return false;
}

static enum MHD_Result send_file(struct http_exchange *exchange, const struct http_file *file)
{
    char etag[80];
    snprintf(etag, sizeof etag, "\"%s\"", file->etag);
    bool unchanged = lists(http_header(exchange, "If-None-Match"), etag);
    struct MHD_Response *response =
        buffer_response(file->data, unchanged ? 0 : file->bytes, MHD_RESPMEM_PERSISTENT);
    mhd.add_response_header(response, "ETag", etag);
    return http_queue(exchange, unchanged ? 304 : 200, file->type, "no-cache", response);
}

struct generator {
    size_t (*generate)(void *source, char *buffer, size_t size);
    void (*release)(void *source);
    void *source;
    char *plain; /* the block that `zip` compresses; NULL: not compressed */
    z_stream zip;
    bool ended;
};

static ssize_t read_generator(void *context, uint64_t position, char *buffer, size_t size)
{
    struct generator *generator = context;
    (void)position;
    size_t bytes = generator->generate(generator->source, buffer, size);
    return bytes ? (ssize_t)bytes : MHD_CONTENT_READER_END_OF_STREAM;
}

static ssize_t read_compressed(void *context, uint64_t position, char *buffer, size_t size)
{
    struct generator *generator = context;
    z_stream *zip = &generator->zip;
    int status;
    (void)position;
    zip->next_out = (Bytef *)buffer;
    zip->avail_out = (uInt)size;
    do {
        if (!zip->avail_in && !generator->ended) {
            zip->next_in = (Bytef *)generator->plain;
            zip->avail_in =
                (uInt)generator->generate(generator->source, generator->plain, GENERATE_BYTES);
            generator->ended = !zip->avail_in;
        }
        status = http_zlib.deflate(zip, generator->ended ? Z_FINISH : Z_NO_FLUSH);
    } while (zip->avail_out == size && status == Z_OK);
    return zip->avail_out < size ? (ssize_t)(size - zip->avail_out)
                                 : MHD_CONTENT_READER_END_OF_STREAM;
}

/* The fastest level: metrics shrink to a twentieth. */
static void compress_generator(struct generator *generator)
{
    if (http_zlib.deflateInit2_(&generator->zip, 1, Z_DEFLATED, MAX_WBITS + 16 /* gzip */, 8,
                                Z_DEFAULT_STRATEGY, ZLIB_VERSION, sizeof generator->zip) == Z_OK)
        generator->plain = mem_alloc(GENERATE_BYTES);
}

/* RFC 9110, 12.5.3. A weight of 0 forbids it. */
static bool accepts_gzip(const struct http_exchange *exchange)
{
    const char *list = http_header(exchange, "Accept-Encoding"), *weight;
    for (const char *at = list; at && *at; at = strchr(at, ',')) {
        at += strspn(at, ", \t");
        size_t length = strcspn(at, ",; \t");
        if (length != 4 || strncasecmp(at, "gzip", 4) != 0)
            continue;
        weight = at + length + strspn(at + length, " \t;");
        return strncasecmp(weight, "q=", 2) != 0 || strtod(weight + 2, NULL) > 0;
    }
    return false;
}

static void free_generator(void *context)
{
    struct generator *generator = context;
    if (generator->release)
        generator->release(generator->source);
    if (generator->plain)
        http_zlib.deflateEnd(&generator->zip);
    mem_free(generator->plain);
    mem_free(generator);
}

enum MHD_Result http_send(struct http_exchange *exchange)
{
    struct http_response *answer = &exchange->response;
    struct MHD_Response *response;
    if (answer->file)
        return send_file(exchange, answer->file);
    if (answer->generate) {
        struct generator *generator = mem_zalloc(1, sizeof *generator);
        *generator = (struct generator){
            .generate = answer->generate, .release = answer->release, .source = answer->source};
        if (http_zlib.deflate && accepts_gzip(exchange))
            compress_generator(generator);
        answer->source = NULL;
        answer->release = NULL;
        response = mhd.create_response_from_callback(
            MHD_SIZE_UNKNOWN, GENERATE_BYTES, generator->plain ? read_compressed : read_generator,
            generator, free_generator);
        if (!response)
            mem_fail("an HTTP response");
        mhd.add_response_header(response, "Vary", "Accept-Encoding");
        if (generator->plain)
            mhd.add_response_header(response, "Content-Encoding", "gzip");
    } else {
        response = buffer_response(answer->body.data, answer->body.length, MHD_RESPMEM_MUST_FREE);
        if (!answer->body.length)
            text_release(&answer->body);
        answer->body = (struct text){0};
    }
    return http_queue(exchange, answer->status ? answer->status : 200,
                      answer->type ? answer->type : "application/json", "no-store", response);
}
