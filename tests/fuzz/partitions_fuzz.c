/* partitions.conf: what is accepted makes sense, gives every port keys that are right and a table
 * that holds them; what is not names its line. */
#include "subnet/partitions.h"

#include "subnet/subnet.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM = 64, SIZE_LIMIT = 1 << 16 };

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_data(const struct partitions *partitions)
{
    require(partitions->all.count > 0 && partitions->all.items[0].key == PARTITION_DEFAULT);
    for (uint32_t i = 0; i < partitions->all.count; i++) {
        const struct partition *partition = &partitions->all.items[i];
        require(partition->key && partition->key <= PARTITION_DEFAULT && partition->sl <= 15);
        require(map_get(&partitions->by_key, partition->key) == i); /* no key twice */
    }
    for (size_t i = 0; i < partitions->rules.count; i++) {
        const struct partition_rule *rule = &partitions->rules.items[i];
        require(rule->partition < partitions->all.count && rule->membership <= MEMBER_BOTH);
        require((rule->guid != 0) == (rule->target == MEMBERS_PORT));
        require((i < partitions->general) == (rule->guid == 0));
    }
    for (size_t i = 0; i < partitions->groups.count; i++) {
        const struct partition_group *group = &partitions->groups.items[i];
        require(group->partition < partitions->all.count && group->mgid[0] == 0xFF);
        require(group->mtu >= 1 && group->mtu <= 5 && group->rate >= 2 && group->sl <= 15);
        require((group->mgid[1] & 0xF) == group->scope && group->flow_label <= 0xFFFFF);
    }
}

static void check_port(const struct partitions *partitions, struct partition_port port,
                       struct partition_keys *keys)
{
    uint16_t before[ROOM] = {0xFFFF, 1, 0x8002, 0, 3}, table[ROOM], again[ROOM];
    partitions_find_keys(partitions, &port, keys);
    require(keys->keys.count > 0 && (keys->keys.items[0] & PARTITION_DEFAULT) == PARTITION_DEFAULT);
    require(!port.self || keys->keys.items[0] & PARTITION_FULL);
    if (!partitions_place(partitions, keys, before, ROOM, table)) {
        require(keys->keys.count > ROOM);
        return;
    }
    size_t placed = 0;
    for (unsigned i = 0; i < ROOM; i++)
        placed += table[i] != 0;
    require(placed == keys->keys.count && table[0]);
    require(!keys->first || table[0] == keys->first);
    require(partitions_place(partitions, keys, table, ROOM, again));
    require(memcmp(table, again, sizeof table) == 0); /* what is right stays as it is */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct partitions partitions;
    struct partition_keys keys = {0};
    struct err err = {0};
    if (size > SIZE_LIMIT || (size && memchr(data, 0, size)))
        return 0;
    char *text = mem_alloc(size + 1);
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    if (partitions_read(&partitions, from_text("fuzz", text, &err))) {
        require(err.message[0] && strcmp(err.file, "fuzz") == 0 && err.line > 0);
        require(!partitions.all.items && !partitions.rules.items && !partitions.groups.items);
    } else {
        check_data(&partitions);
        for (unsigned kind = SUBNET_ADAPTER; kind <= SUBNET_ROUTER; kind++)
            for (unsigned guid = 1; guid < 8; guid++) {
                partitions.allow_both = guid & 1;
                check_port(&partitions, (struct partition_port){guid, (uint8_t)kind, guid == 1},
                           &keys);
            }
        partitions_release(&partitions);
    }
    partition_keys_release(&keys);
    mem_free(text);
    return 0;
}
