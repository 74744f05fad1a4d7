#!/usr/bin/env python3
"""api_check.py OPENAPI URL TOKEN: every answer of the API is as the contract describes it.

Members that the contract does not name, missing members of complete ticks and wrong types are errors.
"""
import base64
import json
import sys
import urllib.parse
import urllib.request

import yaml

contract = yaml.safe_load(open(sys.argv[1]))
url, token = sys.argv[2] + "/api/v1", sys.argv[3]
errors = []


def fail(place, text):
    errors.append(f"{place}: {text}")


def check(value, schema, place):
    if "$ref" in schema:
        schema = contract["components"]["schemas"][schema["$ref"].split("/")[-1]]
    if value is None:
        if not schema.get("nullable"):
            fail(place, "is null")
        return
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}
    kind = schema["type"]
    if not isinstance(value, kinds[kind]) or (isinstance(value, bool) and kind != "boolean"):
        fail(place, f"{value!r:.60} is not a {kind}")
        return
    if "enum" in schema and value not in schema["enum"]:
        fail(place, f"{value!r} is not in {schema['enum']}")
    if kind == "array":
        for item in value[:200]:
            check(item, schema["items"], place + "[]")
    if kind == "object":
        properties, others = schema.get("properties", {}), schema.get("additionalProperties")
        for name, item in value.items():
            if name in properties:
                check(item, properties[name], f"{place}.{name}")
            elif others:
                check(item, others, f"{place}.{name}")
            else:
                fail(place, f"'{name}' is not in the contract")


def get(path, schema_of=None):
    with urllib.request.urlopen(url + path) as answer:
        value = json.load(answer)
    operation = contract["paths"][schema_of or path]["get"]
    check(value, operation["responses"]["200"]["content"]["application/json"]["schema"], path)
    return value


def post(path, **fields):
    request = urllib.request.Request(url + path, urllib.parse.urlencode(fields).encode(), {"X-Weft-Token": token})
    with urllib.request.urlopen(request) as answer:
        value = json.load(answer)
    operation = contract["paths"][path]["post"]
    check(value, operation["responses"]["200"]["content"]["application/json"]["schema"], path)
    return value


def complete(tick, place):
    wanted = set(contract["components"]["schemas"]["Tick"]["properties"]) - {"hash"}
    if missing := wanted - set(tick):
        fail(place, f"without {sorted(missing)}")


info, topology, state = get("/info"), get("/topology"), get("/state")
complete(state, "/state")
for columns in ("nodes", "links"):
    # The column "subnet" is empty in a fabric of one subnet.
    if len({len(column) for name, column in topology[columns].items() if column or name != "subnet"}) != 1:
        fail("/topology", f"columns of {columns} have different lengths")
links = len(topology["links"]["a"])
for vector in ("load", "wait", "vl"):
    if len(base64.b64decode(state[vector])) != 2 * links:
        fail("/state", f"{vector} has not two bytes for each link")

hosts = [i for i, kind in enumerate(topology["nodes"]["kind"]) if kind == 1]
get(f"/path?from={hosts[0]}&to={hosts[-1]}", "/path")
if "partitions" in info["capabilities"]:
    get("/partitions")
if "groups" in info["capabilities"]:
    get("/groups")
if "connections" in info["capabilities"]:
    post("/actions", do="connect", node=hosts[0], peer=hosts[-1])
    listed = get("/connections")
    if listed["total"] < 1 or listed["connections"][-1]["peer"] != hosts[-1]:
        fail("/connections", "the connection that was made is not the last of the list")
if "cabling" in info["capabilities"]:
    get("/cabling")
if "history" in info["capabilities"]:
    history = get("/history")
    complete(get(f"/history/at?t={history['t'][-1]}", "/history/at"), "/history/at")
if "time" in info["capabilities"]:
    post("/actions", do="pause")
    before = post("/actions", do="step", ns=50000)["t"]
    if post("/actions", do="step", ns=50000)["t"] != before + 50000:
        fail("/actions", "a step is not as long as it was asked for")
if "tables" in info["capabilities"]:
    last = get("/tables/versions")["versions"][-1]["id"]
    get(f"/tables/compare?a={last}&b={last}", "/tables/compare")
if "whatif" in info["capabilities"]:
    post("/whatif", engine=info["engines"][0])
    post("/whatif", engine="updn")

print("\n".join(errors) or "every answer is as the contract describes it")
sys.exit(bool(errors))
