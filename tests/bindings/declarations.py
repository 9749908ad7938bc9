#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The generated declarations of the bindings are what generate.py writes for the headers of today, and agree with what the C
compiler says of the headers: names, sizes, offsets, values; numbers and types of arguments. Test `api` compares api.json
with the headers, so it stands for them where a declaration has no machine code. A language without its toolchain is named
and left out.
usage: declarations.py SOURCE BUILD C-COMPILER"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

source, build, compiler = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
bindings, description = source / "src/bindings", build / "include/api.json"
failures = []
sys.dont_write_bytecode = True
sys.path.insert(0, str(bindings))
import generate  # noqa: E402

api = json.loads(description.read_text(encoding="utf-8"))
functions = [row for row in api["functions"] if row["library"] == "devicepool"]


def run(command, **options):
    if failures and not os.path.exists(command[0]) and not shutil.which(str(command[0])):
        return ""  # it was not built
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    if done.returncode:
        failures.append(f"{' '.join(str(word) for word in command)}: exit code {done.returncode}\n"
                        f"{(done.stdout + done.stderr)[-6000:]}")
    return done.stdout


def compare(language, lines, expected):
    """Lines of a probe. A language may leave out the members of a union."""
    missing, other = expected - lines, lines - expected
    for line in sorted(missing)[:10]:
        failures.append(f"{language} lacks \"{line}\" of the headers")
    for line in sorted(other)[:10]:
        failures.append(f"{language} has \"{line}\", which the headers do not")
    print(f"{language}: {len(lines)} declarations, {len(missing) + len(other)} differ")


def check_files(directory):
    run([sys.executable, bindings / "generate.py", description, directory])
    written = [path for path in pathlib.Path(directory).rglob("*") if path.is_file()]
    for path in written:
        name = path.relative_to(directory)
        committed = bindings / name
        if not committed.exists() or committed.read_bytes() != path.read_bytes():
            failures.append(f"src/bindings/{name} is not what generate.py writes: ninja -C BUILD bindings")
    print(f"{len(written)} generated files")
    if len(written) < 5:
        failures.append("too few generated files")


def c_probe(directory):
    run([*compiler.split(), "-std=gnu11", "-w", f"-I{source}/include", directory / "probe.c", "-o", directory / "probe"])
    return set(run([directory / "probe"]).splitlines())


# --- Python ------------------------------------------------------------------------------------------


def kind_of(text):
    """What a C type is to a caller: a pointer, or an integer of a size, or a floating-point number."""
    known = generate.Api(description)
    kind = generate.Type(text)
    if kind.pointers or known.is_pointer(kind.name):
        return "pointer"
    if kind.name in ("void", "double", "float"):
        return kind.name
    return "%d %s" % (known.integer(kind.name)[0], "signed" if known.integer(kind.name)[1] else "unsigned")


def python_kind(ctypes, item):
    if item is None:
        return "void"
    if item in (ctypes.c_double, ctypes.c_float):
        return {ctypes.c_double: "double", ctypes.c_float: "float"}[item]
    if item in (ctypes.c_void_p, ctypes.c_char_p) or hasattr(item, "contents") or hasattr(item, "_restype_"):
        return "pointer"
    return f"{ctypes.sizeof(item)} {'signed' if item(-1).value < 0 else 'unsigned'}"


def check_python(expected):
    import ctypes
    sys.path.insert(0, str(bindings / "python/devicepool"))
    import raw
    lines = set()
    for name, item in vars(raw).items():
        if isinstance(item, type) and hasattr(item, "SIZE"):
            lines.add(f"struct {name} {ctypes.sizeof(item)} {ctypes.alignment(item)}")
            for member, _ in item._fields_:
                field = getattr(item, member)
                lines.add(f"member {name}.{member} {field.offset} {field.size}")
        elif name.startswith("POOL_"):
            lines.add(f"constant {name} {item}")
    for name, (_, arguments) in raw.FUNCTIONS.items():
        lines.add(f"function {name} {len(arguments)}")
    compare("Python", lines, expected)
    for row in functions:
        returns, arguments = raw.FUNCTIONS[row["name"]]
        have = [python_kind(ctypes, item) for item in [returns] + arguments]
        want = [kind_of(row["returns"])] + [kind_of(parameter["type"]) for parameter in row["parameters"]]
        if have != want:
            failures.append(f"Python: {row['name']} has {have}, the headers {want}")
        for item, parameter in zip(arguments, row["parameters"]):
            pointee = getattr(item, "_type_", None)
            if getattr(pointee, "SIZE", None) and pointee.__name__ != generate.Type(parameter["type"]).name:
                failures.append(f"Python: {row['name']}: {parameter['name']} points to {pointee.__name__}")


# --- Rust --------------------------------------------------------------------------------------------


def c_type(rust):
    """The C type that a type in raw.rs stands for, as api.json writes it."""
    names = {value: name for name, value in generate.Rust.BASIC.items()}
    stars = re.match(r"((?:\*(?:const|mut) )*)(.*)", rust)
    pointers, name = re.findall(r"\*(const|mut)", stars[1]), names.get(stars[2], stars[2])
    text = f"const {name}" if pointers and pointers[-1] == "const" else name
    for i in range(len(pointers) - 1, -1, -1):
        text += " *" if text[-1] != "*" else "*"
        text += "const" if i > 0 and pointers[i - 1] == "const" else ""
    return text.replace(" ", "")


def check_rust(directory, expected):
    rustc = shutil.which("rustc")
    text = (bindings / "rust/devicepool-sys/src/raw.rs").read_text(encoding="utf-8")
    declared = {match[1]: match for match in re.finditer(r"^    pub fn (\w+)\((.*)\)(?: -> (.*))?;$", text, re.M)}
    for row in functions:
        match = declared.pop(row["name"], None)
        if not match:
            failures.append(f"Rust lacks {row['name']}")
            continue
        have = [c_type(match[3] or "c_void")] + [c_type(part.partition(": ")[2]) for part in match[2].split(", ") if part]
        want = [row["returns"]] + [parameter["type"] for parameter in row["parameters"]]
        if have != [item.replace(" ", "") for item in want]:
            failures.append(f"Rust: {row['name']} has {have}, the headers {want}")
    failures.extend(f"Rust has {name}, which the headers do not" for name in declared)
    if not rustc:
        print("Rust: layout not compared, there is no rustc")
        return
    library = directory / "libdevicepool_sys.rlib"
    run([rustc, "--edition", "2021", "--crate-type", "rlib", "--crate-name", "devicepool_sys",
         bindings / "rust/devicepool-sys/src/lib.rs", "-D", "warnings", "-o", library])
    run([rustc, "--edition", "2021", directory / "probe.rs", "--extern", f"devicepool_sys={library}", "-L", build / "src",
         "-l", "devicepool", "-o", directory / "probe_rust"])
    lines = run([directory / "probe_rust"], env=dict(os.environ, LD_LIBRARY_PATH=str(build / "src"))).splitlines()
    compare("Rust", set(lines), expected)


# --- Go and Node -------------------------------------------------------------------------------------


def check_go(directory, expected):
    go = shutil.which("go")
    if not go:
        print("Go: not compared, there is no go")
        return
    # The compiler compares calls with the headers.
    # With the options of run.py, so that the package is compiled once for both.
    module = build / "tests/bindings/go-declarations"
    shutil.rmtree(module, ignore_errors=True)
    shutil.copytree(bindings / "go", module)
    (module / "probe").mkdir()
    shutil.copy(directory / "probe.go", module / "probe/main.go")
    environment = dict(os.environ, CGO_CFLAGS=f"-O1 -I{source}/include -Wall", CGO_LDFLAGS=f"-L{build}/src -ldevicepool",
                       PKG_CONFIG="true", GOFLAGS="-mod=mod -trimpath", GOPROXY="off", LD_LIBRARY_PATH=f"{build}/src",
                       GOCACHE=os.environ.get("GOCACHE", str(build / "tests/bindings/go-cache")))
    lines = run([go, "run", "./probe"], cwd=module, env=environment).splitlines()
    union = {line for line in expected if line.startswith("member pool_cu_launch_attribute_value.")}
    compare("Go", set(lines), expected - union)


def check_node(expected):
    run([*compiler.split(), "-std=gnu11", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-fsyntax-only", f"-I{source}/include",
         bindings / "node/raw.c"])
    node = shutil.which("node")
    if not node:
        print("Node: not compared, there is no node")
        return
    script = """
        const raw = require(process.argv[1]);
        for (const [name, struct] of Object.entries(raw.structs)) {
          const flat = name.replace('.', '_');
          console.log(`struct ${flat} ${struct.size} ${struct.alignment}`);
          for (const [member, [offset, , size]] of Object.entries(struct.members))
            console.log(`member ${flat}.${member} ${offset} ${size}`);
        }
        for (const [name, value] of Object.entries(raw.constants)) console.log(`constant ${name} ${value}`);
        for (const [name, [, , parameters]] of Object.entries(raw.functions))
          console.log(`function ${name} ${parameters.length}`);"""
    compare("Node", set(run([node, "-e", script, bindings / "node/raw.js"]).splitlines()), expected)
    numbers = dict(re.findall(r"^  (\w+): \[(\d+),", (bindings / "node/raw.js").read_text(encoding="utf-8"), re.M))
    calls = re.findall(r"case (\d+):\n        (?:return \(uint64_t\)(?:\(uintptr_t\))?)?(pool_\w+)\(",
                       (bindings / "node/raw.c").read_text(encoding="utf-8"))
    if {name: number for number, name in calls} != numbers or len(calls) != len(functions):
        failures.append("Node: the numbers of raw.js and raw.c differ")


with tempfile.TemporaryDirectory() as temporary:
    where = pathlib.Path(temporary)
    check_files(where / "written")
    run([sys.executable, bindings / "generate.py", "--probes", description, where])
    headers = c_probe(where)
    if len(headers) < 1000:
        failures.append("the probe prints too little")
    check_python(headers)
    check_rust(where, headers)
    check_go(where, headers)
    check_node(headers)
for line in failures:
    print(line)
sys.exit(1 if failures else 0)
