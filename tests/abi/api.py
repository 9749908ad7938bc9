#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The installed description of the API, api.json: its functions are what the libraries export, the target's
compiler agrees with each size, offset and value, the last members are those of sizes.def, no constant of the
headers is missing, and everything has a comment.
usage: api.py API.json NM COMPILER INCLUDE-DIRECTORY LIBRARY=FILE... -- SIZES.def... -- COMPILER-OPTION..."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

failures = []


def check_exports(api, nm, library, path):
    described = {row["name"] for row in api["functions"] if row["library"] == library}
    options = ["-D"] if ".so" in pathlib.Path(path).name else ["-g"]
    listing = subprocess.run([nm, *options, "--defined-only", path], check=True, capture_output=True,
                             text=True).stdout
    rows = [line.split() for line in listing.splitlines()]
    exported = {row[-1].split("@")[0] for row in rows if len(row) == 3 and row[-2] in "TW"}
    for name in sorted(exported - described):
        failures.append(f"{name}: exported by {library}, not described")
    for name in sorted(described - exported):
        failures.append(f"{name}: described, not exported by {library}")
    if not exported:
        failures.append(f"{path} exports nothing")
    print(f"{library}: {len(exported)} exported, {len(described)} described")


def assertion(condition):
    return f"_Static_assert({condition}, \"{condition}\");\n"


def member_assertions(row):
    outer, _, path = row["name"].partition(".")
    lines = ""
    if not path:
        lines += assertion(f"sizeof({outer}) == {row['size']}")
        lines += assertion(f"_Alignof({outer}) == {row['alignment']}")
    for member in row["members"]:
        name = f"{path}.{member['name']}" if path else member["name"]
        base = f"offsetof({outer}, {path})" if path else "0"
        item = f"((({outer} *)0)->{name})"
        lines += assertion(f"offsetof({outer}, {name}) - {base} == {member['offset']}")
        lines += assertion(f"sizeof({item}) == {member['size']}")
        for length in member.get("array", []):
            lines += assertion(f"sizeof({item}) / sizeof({item}[0]) == {length}")
            item += "[0]"
        if member["type"] in {row["name"] for row in api["callbacks"]}:
            continue
        if "." not in member["type"]:
            # The member's type, whatever the headers call it.
            lines += (f"_Static_assert(_Generic(&{item}, {member['type']} *: 1, default: 0), "
                      f"\"{outer}.{name} is a {member['type']}\");\n")
    return lines


def check_layout(api, compiler, include, options):
    """Compiled, not run: cross compilers can do it as well."""
    headers = sorted({row["header"] for rows in ("functions", "structs", "enums", "constants") for row in api[rows]})
    text = "#include <stddef.h>\n#include <stdint.h>\n"
    text += "".join(f"#include <devicepool/{header}>\n" for header in headers)
    for row in api["types"]:
        text += assertion(f"sizeof({row['name']}) == {row['size']}")
    for row in api["structs"]:
        text += member_assertions(row)
    for row in api["enums"]:
        text += assertion(f"sizeof({row['name']}) == {row['size']}")
        for constant in row["constants"]:
            text += assertion(f"{constant['name']} == {constant['value']}")
    for row in api["constants"]:
        suffix = "u" if row["value"] > 2**63 - 1 else ""
        text += assertion(f"{row['name']} == {row['value']}{suffix}")
    # A declaration that differs from the header's does not compile.
    callbacks = {row["name"] for row in api["callbacks"]}
    for row in api["functions"]:
        parameters = ", ".join(parameter["type"] for parameter in row["parameters"])
        if not any(parameter["type"] in callbacks and "." in parameter["type"] for parameter in row["parameters"]):
            text += f"{row['returns']} {row['name']}({parameters or 'void'});\n"
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory, "layout.c")
        source.write_text(text, encoding="utf-8")
        done = subprocess.run([*compiler.split(), "-std=gnu11", "-fsyntax-only", f"-I{include}", *options, str(source)],
                              capture_output=True, text=True, check=False)
        # What is wrong must not pass: the check can fail.
        wrong = pathlib.Path(directory, "wrong.c")
        wrong.write_text(text.replace("== 0,", "== 1,", 1), encoding="utf-8")
        failed = subprocess.run([*compiler.split(), "-std=gnu11", "-fsyntax-only", f"-I{include}", *options, str(wrong)],
                                capture_output=True, check=False)
    if done.returncode:
        failures.append(f"the compiler disagrees:\n{done.stderr[:4000]}")
    if not failed.returncode:
        failures.append("the compiler accepts wrong values")
    print(f"{text.count('_Static_assert')} assertions compiled")


def check_sizes(api, path):
    ends = {}
    for name, member, end in re.findall(r"^X\((\w+), (\w+), (\d+)\)", pathlib.Path(path).read_text(), re.M):
        ends[name] = (member, int(end))
    structs = {row["name"]: row for row in api["structs"]}
    for name, (member, end) in ends.items():
        last = structs[name]["members"][-1] if name in structs else None
        if not last or (last["name"], last["struct_size"]) != (member, end):
            failures.append(f"{name}: the last member is {last}, recorded is {member}, which ends at {end}")
    if not ends:
        failures.append(f"{path} has no rows")


def check_names(api, include):
    """Each constant that a header defines or mentions in code is described."""
    described = {row["name"] for row in api["constants"]}
    described |= {constant["name"] for row in api["enums"] for constant in row["constants"]}
    headers = {row["header"] for rows in ("functions", "structs", "enums", "constants") for row in api[rows]}
    for header in sorted(pathlib.Path(include).glob("devicepool/*.h")):
        if header.name not in headers:
            if header.name != "mpi.h":
                failures.append(f"{header.name} is not described")
            continue
        code = re.sub(r"/\*.*?\*/", "", header.read_text(encoding="utf-8"), flags=re.S)
        macros = set(re.findall(r"#define (POOL_\w+)\(", code)) | {"POOL_API", "POOL_BUILDING"}
        for name in sorted(set(re.findall(r"\bPOOL_[A-Z0-9_]+\b", code)) - macros - described):
            # A list's macro pastes names: POOL_CU_##name.
            if not name.endswith("_"):
                failures.append(f"{name} of {header.name} is not described")
    if described and len(described) < 200:
        failures.append(f"only {len(described)} constants")


def check_comments(api):
    for rows in ("functions", "structs", "enums", "callbacks", "handles", "constants"):
        for row in api[rows]:
            if not row.get("comment") and "." not in row["name"]:
                failures.append(f"{row['name']} of {row['header']} has no comment")
    names = [row["name"] for rows in ("functions", "structs", "enums", "callbacks", "handles", "constants", "aliases")
             for row in api[rows]]
    for name in sorted({name for name in names if names.count(name) > 1}):
        failures.append(f"{name} is described twice")


arguments = " ".join(sys.argv[1:]).split(" -- ")
first, sizes, options = [part.split() for part in (arguments + [""] * 3)[:3]]
api = json.loads(pathlib.Path(first[0]).read_text(encoding="utf-8"))
nm, compiler, include = first[1:4]
for pair in first[4:]:
    check_exports(api, nm, *pair.split("=", 1))
check_layout(api, compiler, include, options)
for path in sizes:
    check_sizes(api, path)
check_names(api, include)
check_comments(api)
for line in failures:
    print(line)
sys.exit(1 if failures else 0)
