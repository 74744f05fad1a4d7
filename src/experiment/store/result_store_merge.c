/* Merges stores, such as those of the tasks of a cluster.
 *
 * The other store is attached to the connection and copied run by run in one transaction. Only the
 * IDs of runs and texts differ between stores. */
#include "experiment/store/result_store_sql.h"

#include <errno.h>

static const char copy_texts[] =
    "INSERT INTO main.text(hash, body) SELECT hash, body FROM other.text o WHERE o.id IN"
    " (SELECT scenario FROM other.run WHERE id = ?1"
    " UNION SELECT template FROM other.run WHERE id = ?1"
    " UNION SELECT topology FROM other.run WHERE id = ?1)"
    " AND NOT EXISTS (SELECT 1 FROM main.text m WHERE m.hash = o.hash AND m.body = o.body)";

static const char copy_run[] =
    "WITH twin(theirs, ours) AS (SELECT o.id, m.id FROM other.text o"
    " JOIN main.text m ON m.hash = o.hash AND m.body = o.body)"
    "INSERT INTO main.run(point, repetition, seed, state, error, replay, hash, wall_s, name,"
    " version, switches, adapters, end_ps, smps, lost, hops, verdict, scenario, template, topology)"
    " SELECT point, repetition, seed, state, error, replay, hash, wall_s, name,"
    " version, switches, adapters, end_ps, smps, lost, hops, verdict, s.ours, t.ours, n.ours"
    " FROM other.run r JOIN twin s ON s.theirs = r.scenario JOIN twin t ON t.theirs = r.template"
    " JOIN twin n ON n.theirs = r.topology WHERE r.id = ?1";

static int merge_runs(struct result_store *store, const char *path, const struct result_runs *runs,
                      size_t *added, struct err *err)
{
    /* Runs of different scenarios can have the same points, so they must not be mixed. */
    int64_t strange = 0;
    int status =
        sql_number(store, err, &strange,
                   "SELECT EXISTS (SELECT 1 FROM main.run) AND EXISTS (SELECT 1 FROM other.run r"
                   " JOIN other.text o ON o.id = r.template WHERE o.body NOT IN (SELECT m.body"
                   " FROM main.run s JOIN main.text m ON m.id = s.template))",
                   "");
    if (status == 0 && strange)
        status =
            err_at(err, EINVAL, path, 0, "has runs of another scenario than %.200s", store->path);
    for (size_t i = 0; i < runs->items.count && status == 0; i++) {
        const struct result_run *run = &runs->items.items[i];
        int64_t replaces;
        status = result_store_place(store, run, &replaces, err);
        if (status != 1 || (run->failed && replaces)) {
            status = status < 0 ? status : 0;
            continue;
        }
        status = sql_do(store, err, "DELETE FROM main.run WHERE id = ?1", "i", replaces);
        if (status == 0)
            status = sql_do(store, err, copy_texts, "i", run->id);
        if (status == 0)
            status = sql_do(store, err, copy_run, "i", run->id);
        if (status == 0)
            status = rows_copy(store, run->id, sqlite.last_insert_rowid(store->db), err);
        ++*added;
    }
    return status;
}

int result_store_merge(struct result_store *store, const char *path, size_t *added, struct err *err)
{
    struct result_store *other;
    struct result_runs runs;
    size_t count = 0;
    int status = result_store_open(&other, path, RESULT_STORE_READ, err);
    if (status)
        return status;
    status = result_store_read_runs(other, &runs, err);
    result_store_close(other);
    if (status)
        return status;
    status = sql_do(store, err, "ATTACH ?1 AS other", "s", path);
    if (status == 0) {
        status = sql_begin(store, err);
        if (status == 0)
            status = sql_end(store, merge_runs(store, path, &runs, &count, err), err);
        sql_run(store, "DETACH other", NULL);
    }
    result_runs_release(&runs);
    if (added)
        *added = status == 0 ? count : 0;
    return status;
}
