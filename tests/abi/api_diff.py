#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two descriptions of the API (api.json) by the promises of docs/versioning.md: what an older program uses has to
be there, with the same types, values, sizes and offsets. Functions, enumerators, constants and types may have been added,
and members at the end of structs that begin with struct_size.

usage: api_diff.py OLD NEW
       api_diff.py --selftest API     each change of the promises is reported, and each other one is not
"""
import copy
import json
import pathlib
import sys


def by_name(entries):
    return {entry["name"]: entry for entry in entries}


def signature(entry):
    return entry.get("returns"), [parameter["type"] for parameter in entry["parameters"]], entry.get("library")


def compare_struct(name, old, new):
    if old["kind"] != new["kind"] or old["alignment"] != new["alignment"]:
        yield f"{name} has another kind or alignment"
    members = by_name(new["members"])
    for member in old["members"]:
        now = members.get(member["name"])
        for key in ("type", "offset", "size"):
            if not now or member[key] != now[key]:
                yield f"{name}.{member['name']} has another {key}" if now else f"{name}.{member['name']} is gone"
                break
    grows = old["members"][0]["name"] == "struct_size" if old["members"] else False
    if new["size"] < old["size"] or (new["size"] > old["size"] and not grows):
        yield f"{name} has {new['size']} bytes instead of {old['size']}"
    before = set(by_name(old["members"]))
    for member in new["members"]:
        if member["name"] not in before and (not grows or member["offset"] < old["size"]):
            yield f"{name}.{member['name']} is a new member within the struct of the older version"


def compare(old, new):
    """The changes that break a program."""
    for kind in ("handles", "aliases", "enums", "structs", "callbacks", "functions", "constants"):
        before, after = by_name(old[kind]), by_name(new[kind])
        for name, entry in before.items():
            now = after.get(name)
            if not now:
                yield f"{name} is gone"
            elif kind in ("functions", "callbacks") and signature(entry) != signature(now):
                yield f"{name} has another signature"
            elif kind in ("aliases", "constants") and any(entry.get(key) != now.get(key) for key in ("type", "size", "value")):
                yield f"{name} has another type or value"
            elif kind == "structs":
                yield from compare_struct(name, entry, now)
            elif kind == "enums":
                values = {constant["name"]: constant["value"] for constant in now["constants"]}
                yield from (f"{constant['name']} is gone or has another value" for constant in entry["constants"]
                            if values.get(constant["name"]) != constant["value"])
                if (entry["size"], entry["is_signed"]) != (now["size"], now["is_signed"]):
                    yield f"{name} has another size or sign"


def self_test(api):
    growing = next(i for i, entry in enumerate(api["structs"]) if entry["members"][0]["name"] == "struct_size" and
                   len(entry["members"]) > 2)
    fixed = next(i for i, entry in enumerate(api["structs"]) if entry["members"][0]["name"] != "struct_size")

    def appended(index):
        def change(new):
            struct = new["structs"][index]
            struct["members"].append({"name": "another", "type": "uint64_t", "offset": struct["size"], "size": 8})
            struct["size"] += 8
        return change

    breaks = {
        "a function is gone": lambda new: new["functions"].pop(),
        "a parameter more": lambda new: new["functions"][-1]["parameters"].append({"name": "x", "type": "int"}),
        "another result": lambda new: new["functions"][-1].update(returns="double"),
        "a callback's parameter": lambda new: new["callbacks"][0]["parameters"].pop(),
        "a value": lambda new: new["enums"][0]["constants"][1].update(value=77),
        "an enumerator is gone": lambda new: new["enums"][0]["constants"].pop(1),
        "a constant": lambda new: new["constants"][0].update(value=-1),
        "a member's type": lambda new: new["structs"][growing]["members"][-1].update(type="double"),
        "a member's size": lambda new: new["structs"][growing]["members"][-1].update(size=99),
        "a member's offset": lambda new: new["structs"][growing]["members"][1].update(offset=99),
        "a member is gone": lambda new: new["structs"][growing]["members"].pop(1),
        "a member in between": lambda new: new["structs"][growing]["members"].insert(
            1, {"name": "another", "type": "int", "offset": 4, "size": 4}),
        "a struct without struct_size grows": appended(fixed),
        "a handle is gone": lambda new: new["handles"].pop(),
        "an alias": lambda new: new["aliases"][0].update(size=16),
    }
    keeps = {
        "a function more": lambda new: new["functions"].append({**new["functions"][0], "name": "pool_another"}),
        "an enumerator more": lambda new: new["enums"][0]["constants"].append({"name": "POOL_ANOTHER", "value": -999}),
        "a member at the end": appended(growing),
        "a parameter's name and a comment": lambda new: new["functions"][-1].update(
            parameters=[{**parameter, "name": "other"} for parameter in new["functions"][-1]["parameters"]], comment="other"),
    }
    wrong = []
    for expected, changes in ((True, breaks), (False, keeps)):
        for what, change in changes.items():
            new = copy.deepcopy(api)
            change(new)
            found = list(compare(api, new))
            if bool(found) != expected:
                wrong.append(f"{what}: {found or 'not reported'}")
    print(f"{len(breaks)} changes are reported, {len(keeps)} are not" if not wrong else "\n".join(wrong))
    return bool(wrong)


def main():
    descriptions = [json.loads(pathlib.Path(path).read_text()) for path in sys.argv[1:] if not path.startswith("--")]
    if "--selftest" in sys.argv:
        sys.exit(self_test(descriptions[0]))
    found = list(compare(*descriptions))
    print("\n".join(found) or f"what {len(descriptions[0]['functions'])} functions and {len(descriptions[0]['structs'])} "
                              "structs promise is kept")
    sys.exit(1 if found else 0)


main()
