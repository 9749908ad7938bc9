#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the declarations of the bindings from the description of the API, api.json (include/describe.py):

    python/devicepool/raw.py          ctypes
    rust/devicepool-sys/src/raw.rs    extern "C"
    go/raw/raw.go                     structs in Go, calls through cgo
    node/raw.c, node/raw.js           one call by number for all functions; signatures, structs, constants

The files are part of the source: `ninja bindings` writes them again, and a test compares. The library
libdevicepool only; those of the mock and of MPI are left out. Comments are left to the headers.
usage: generate.py API.json DIRECTORY           writes all of them
       generate.py --probes API.json DIRECTORY  probe.c, probe.rs and probe.go, which print sizes, offsets and values: what
                                                the headers say, and what the files above say"""
import json
import pathlib
import re
import sys

NOTE = "Written by src/bindings/generate.py from the headers: do not edit."
OTHER_HEADERS = ("mock.h", "mpi.h")


class Type:
    """A type of api.json: the name at the end of its pointers, and for each pointer whether what it points to is
    const, the innermost first."""

    def __init__(self, text):
        name = re.match(r"(const )?([\w. ]*\w)", text)
        self.text = text
        self.name = name[2]
        self.pointers = []
        is_const = bool(name[1])
        for star in re.findall(r"\*\s*(?:const)?", text[name.end():]):
            self.pointers.append(is_const)
            is_const = "const" in star


class Api:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.all = json.load(file)

        def ours(rows):
            return [row for row in self.all[rows] if row.get("header") not in OTHER_HEADERS]

        self.version = self.all["version"]
        self.functions = [row for row in self.all["functions"] if row["library"] == "devicepool"]
        self.structs = self.in_order(ours("structs"))
        self.enums, self.constants, self.handles = ours("enums"), ours("constants"), ours("handles")
        self.aliases, self.callbacks = ours("aliases"), ours("callbacks")
        self.basic = {row["name"]: row for row in self.all["types"]}
        self.struct = {row["name"]: row for row in self.structs}
        self.enum = {row["name"]: row for row in self.enums}
        self.alias = {row["name"]: row for row in self.aliases}
        self.callback = {row["name"]: row for row in self.callbacks}
        self.handle = {row["name"] for row in self.handles}

    @staticmethod
    def in_order(structs):
        """Members before the structs that contain them."""
        by_name, done = {row["name"]: row for row in structs}, []

        def visit(row):
            for member in row["members"]:
                if member["type"] in by_name:
                    visit(by_name[member["type"]])
            if row not in done:
                done.append(row)

        for row in structs:
            visit(row)
        return done

    def integer(self, name):
        """(bytes, is_signed) of an integer type or an enumeration, else None."""
        row = self.basic.get(name) or self.enum.get(name)
        if name in self.alias and self.alias[name]["type"] != "void *":
            return self.integer(self.alias[name]["type"])
        if not row or name in ("float", "double", "void *"):
            return None
        return row["size"], row["is_signed"]

    def is_pointer(self, name):
        """A name that stands for a pointer: a callback, or a handle of the driver."""
        return name in self.callback or (name in self.alias and self.alias[name]["type"] == "void *")

    def all_constants(self):
        """(name, value) of all."""
        for row in self.enums:
            for constant in row["constants"]:
                yield constant["name"], constant["value"]
        for row in self.constants:
            yield row["name"], row["value"]


def flat(name):
    """The name of a type that is a member's own."""
    return name.replace(".", "_")


# --- Python ------------------------------------------------------------------------------------------


class Python:
    def __init__(self, api):
        self.api = api

    def name_of(self, name):
        api = self.api
        if name == "void":
            return "None"
        if name.startswith("pool_cuda_api.") or (api.is_pointer(name) and name not in api.callback):
            return "c_void_p"
        if name in api.callback or name in api.struct:
            return flat(name)
        if name in ("char", "float", "double"):
            return f"c_{name}"
        size, is_signed = api.integer(name)
        return f"c_{'' if is_signed else 'u'}int{8 * size}"

    def type(self, text, is_result=False):
        kind = Type(text)
        depth = len(kind.pointers)
        if not depth:
            return self.name_of(kind.name)
        if kind.name == "char" and kind.pointers[0]:
            inner, depth = "c_char_p", depth - 1
        elif kind.name == "char" and depth == 2:
            inner, depth = "c_char_p", 1
        elif kind.name in ("void", "char", "unsigned char", "uint8_t") or kind.name in self.api.handle:
            inner, depth = "c_void_p", depth - 1
        else:
            inner = self.name_of(kind.name)
        for _ in range(depth):
            inner = f"POINTER({inner})"
        return inner

    def write(self):
        api = self.api
        text = f'# {NOTE}\n"""The whole API of libdevicepool for ctypes; the names are those of C."""\n'
        text += ("from ctypes import (CDLL, CFUNCTYPE, POINTER, Structure, Union, c_char, c_char_p, c_double, c_int8, c_int16,"
                 "\n                    c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)\n\n")
        text += f'VERSION = "{api.version}"\n\n'
        for name, value in api.all_constants():
            text += f"{name} = {value}\n"
        text += "\n"
        for row in api.structs:
            base = "Union" if row["kind"] == "union" else "Structure"
            text += f"\nclass {flat(row['name'])}({base}):\n    SIZE = {row['size']}\n\n"
        text += "\n"
        for row in api.callbacks:
            if row["name"].startswith("pool_cuda_api."):
                continue
            types = [self.type(row["returns"])] + [self.type(parameter["type"]) for parameter in row["parameters"]]
            text += f"{flat(row['name'])} = CFUNCTYPE({', '.join(types)})\n"
        for row in api.structs:
            text += f"\n{flat(row['name'])}._fields_ = [\n"
            for member in row["members"]:
                kind = self.type(member["type"])
                for length in reversed(member.get("array", [])):
                    kind = f"{kind} * {length}"
                text += f"    (\"{member['name']}\", {kind}),\n"
            text += "]\n"
        text += "\n# What a function returns, and its parameters.\nFUNCTIONS = {\n"
        for row in api.functions:
            types = ", ".join(self.type(parameter["type"]) for parameter in row["parameters"])
            names = ", ".join(parameter["name"] for parameter in row["parameters"])
            text += f"    # ({names})\n    \"{row['name']}\": ({self.type(row['returns'])}, [{types}]),\n"
        text += "}\n\n\n"
        text += ('def load(path):\n    """The library at `path`, all of its functions declared."""\n'
                 "    library = CDLL(path)\n    for name, (result, parameters) in FUNCTIONS.items():\n"
                 "        function = getattr(library, name)\n        function.restype = result\n"
                 "        function.argtypes = parameters\n    return library\n")
        return {"python/devicepool/raw.py": text}


# --- Rust --------------------------------------------------------------------------------------------


class Rust:
    WORDS = {"type", "in", "ref", "match", "move", "use", "mod", "fn", "box", "where", "loop", "impl", "self", "final"}
    BASIC = {"void": "c_void", "char": "c_char", "signed char": "c_schar", "unsigned char": "c_uchar", "short": "c_short",
             "unsigned short": "c_ushort", "int": "c_int", "unsigned int": "c_uint", "long": "c_long",
             "unsigned long": "c_ulong", "long long": "c_longlong", "unsigned long long": "c_ulonglong",
             "float": "f32", "double": "f64", "size_t": "usize", "int8_t": "i8", "int16_t": "i16", "int32_t": "i32",
             "int64_t": "i64", "uint8_t": "u8", "uint16_t": "u16", "uint32_t": "u32", "uint64_t": "u64"}

    def __init__(self, api):
        self.api = api

    def word(self, name):
        return f"r#{name}" if name in self.WORDS else name

    def type(self, text):
        kind = Type(text)
        inner = self.BASIC.get(kind.name, flat(kind.name))
        for is_const in kind.pointers:
            inner = f"*{'const' if is_const else 'mut'} {inner}"
        return inner

    def signature(self, row):
        parameters = ", ".join(f"{self.word(parameter['name'] or f'a{i}')}: {self.type(parameter['type'])}"
                               for i, parameter in enumerate(row["parameters"]))
        returns = "" if row["returns"] == "void" else f" -> {self.type(row['returns'])}"
        return f"({parameters}){returns}"

    def write(self):
        api = self.api
        text = f"// {NOTE}\n"
        text += ("//! The whole API of libdevicepool; the names are those of C.\nuse core::ffi::c_void;\nuse core::marker::{PhantomData, PhantomPinned};\n"
                 "#[allow(unused_imports)]\nuse std::os::raw::{c_char, c_int, c_schar, c_short, c_uchar, c_uint, c_ulonglong, c_ushort};\n\n")
        for row in api.aliases:
            target = "*mut c_void" if row["type"] == "void *" else self.type(row["type"])
            text += f"pub type {row['name']} = {target};\n"
        for row in api.handles:
            text += "\n"
            text += (f"#[repr(C)]\npub struct {row['name']} {{\n    _data: [u8; 0],\n"
                     "    _marker: PhantomData<(*mut u8, PhantomPinned)>,\n}\n")
        for row in api.enums:
            text += "\n"
            kind = {(4, True): "i32", (4, False): "u32"}[row["size"], row["is_signed"]]
            text += f"pub type {row['name']} = {kind};\n"
            for constant in row["constants"]:
                text += f"pub const {constant['name']}: {row['name']} = {constant['value']};\n"
        text += "\n"
        for row in api.constants:
            text += f"pub const {row['name']}: {self.type(row['type'])} = {row['value']};\n"
        for row in api.callbacks:
            text += "\n"
            text += f"pub type {flat(row['name'])} = Option<unsafe extern \"C\" fn{self.signature(row)}>;\n"
        for row in api.structs:
            text += "\n"
            text += f"#[repr(C)]\n#[derive(Clone, Copy)]\npub {row['kind']} {flat(row['name'])} {{\n"
            for member in row["members"]:
                kind = self.type(member["type"])
                for length in reversed(member.get("array", [])):
                    kind = f"[{kind}; {length}]"
                text += f"    pub {self.word(member['name'])}: {kind},\n"
            text += "}\n"
            sized = row["members"][0]["name"] == "struct_size"
            text += (f"impl Default for {flat(row['name'])} {{\n    /// All zeros{', and the size' if sized else ''}.\n    fn default() -> Self {{\n"
                     f"        // All members are integers, pointers, options of functions: zeros are valid.\n"
                     f"        let {'mut ' if sized else ''}made: Self = unsafe {{ core::mem::zeroed() }};\n")
            if sized:
                text += "        made.struct_size = core::mem::size_of::<Self>();\n"
            text += "        made\n    }\n}\n"
        text += "\nextern \"C\" {\n"
        for row in api.functions:
            text += f"    pub fn {row['name']}{self.signature(row)};\n"
        text += "}\n"
        return {"rust/devicepool-sys/src/raw.rs": text}

    def probe(self):
        text = (f"// {NOTE}\n//! Prints sizes, offsets and values as this crate has them.\n"
                "use devicepool_sys::*;\nuse core::mem::{align_of, size_of, MaybeUninit};\n\n"
                "fn size<T>(_: *const T) -> usize {\n    size_of::<T>()\n}\n\nfn main() {\n")
        for row in self.api.structs:
            name = flat(row["name"])
            text += f"    println!(\"struct {name} {{}} {{}}\", size_of::<{name}>(), align_of::<{name}>());\n    {{\n"
            text += f"        let space = MaybeUninit::<{name}>::uninit();\n        let start = space.as_ptr();\n"
            for member in row["members"]:
                word = self.word(member["name"])
                text += (f"        let at = unsafe {{ core::ptr::addr_of!((*start).{word}) }};\n"
                         f"        println!(\"member {name}.{member['name']} {{}} {{}}\", at as usize - start as usize, size(at));\n")
            text += "    }\n"
        for name, _ in self.api.all_constants():
            text += f"    println!(\"constant {name} {{}}\", {name});\n"
        for row in self.api.functions:
            text += f"    assert!({row['name']} as *const () as usize != 0);\n    println!(\"function {row['name']} {len(row['parameters'])}\");\n"
        return text + "}\n"


# --- Go ----------------------------------------------------------------------------------------------


class Go:
    WORDS = {"type", "range", "func", "map", "chan", "var", "select", "go", "defer", "interface", "package", "import"}

    def __init__(self, api):
        self.api = api

    @staticmethod
    def exported(name):
        parts = re.sub(r"^(POOL_|pool_)", "", flat(name)).split("_")
        return "".join(part[:1].upper() + (part[1:].lower() if name.isupper() else part[1:]) for part in parts)

    def constant(self, name):
        return "C" + self.exported(name) if name.startswith("POOL_CU_") else self.exported(name)

    def type_name(self, name):
        """A struct, an enumeration: the same name could be a function's."""
        return self.exported(name)

    def go_type(self, text):
        kind = Type(text)
        api = self.api
        if not kind.pointers:
            if kind.name in api.enum:
                return self.type_name(kind.name)
            if kind.name in api.struct:
                return self.type_name(kind.name)
            if api.is_pointer(kind.name):
                return "unsafe.Pointer"
            if kind.name in ("float", "double"):
                return {"float": "float32", "double": "float64"}[kind.name]
            size, is_signed = api.integer(kind.name)
            return "byte" if (size, is_signed) == (1, False) else f"{'' if is_signed else 'u'}int{8 * size}"
        if len(kind.pointers) == 1 and kind.name not in ("void", "char") and kind.name not in api.handle:
            return "*" + self.go_type(kind.name)
        if len(kind.pointers) == 2 and (kind.name in ("void", "char") or kind.name in api.handle):
            return "*unsafe.Pointer"
        return "unsafe.Pointer"

    def member_type(self, member):
        text = member["type"]
        kind = "unsafe.Pointer" if Type(text).pointers else self.go_type(text)
        if text == "char":
            kind = "byte"
        return "".join(f"[{length}]" for length in member.get("array", [])) + kind

    def c_type(self, text):
        kind = Type(text)
        special = {"unsigned int": "uint", "unsigned char": "uchar", "unsigned short": "ushort",
                   "unsigned long long": "ulonglong"}
        if kind.name == "void":
            stars = len(kind.pointers) - 1
            return "*" * stars + "unsafe.Pointer"
        return "*" * len(kind.pointers) + "C." + special.get(kind.name, kind.name)

    def function(self, row):
        parameters, arguments = [], []
        for parameter in row["parameters"]:
            name = parameter["name"] + ("_" if parameter["name"] in self.WORDS else "")
            parameters.append(f"{name} {self.go_type(parameter['type'])}")
            c_type = self.c_type(parameter["type"])
            is_pointer = Type(parameter["type"]).pointers or self.api.is_pointer(Type(parameter["type"]).name)
            if is_pointer:
                value = name if self.go_type(parameter["type"]) == "unsafe.Pointer" else f"unsafe.Pointer({name})"
                arguments.append(value if c_type == "unsafe.Pointer" else f"({c_type})({value})")
            else:
                arguments.append(f"{c_type}({name})")
        call = f"C.{row['name']}({', '.join(arguments)})"
        name = "Fn" + self.exported(row["name"])
        if row["returns"] == "void":
            return f"func {name}({', '.join(parameters)}) {{\n\t{call}\n}}\n\n"
        returns = self.go_type(row["returns"])
        if returns == "unsafe.Pointer" or returns.startswith("*"):
            returns, call = "unsafe.Pointer", f"unsafe.Pointer({call})"
        else:
            call = f"{returns}({call})"
        return f"func {name}({', '.join(parameters)}) {returns} {{\n\treturn {call}\n}}\n\n"

    def write(self):
        api = self.api
        text = f"// Code generated by src/bindings/generate.py; DO NOT EDIT.\n\n"
        text += ("// Package raw has the whole API of libdevicepool: constants, structs with the layout of C, and each function\n"
                 "// with the prefix Fn. A struct that is passed to a function must not point to memory of Go, unless that is\n"
                 "// pinned (runtime.Pinner): package devicepool is the one to use.\npackage raw\n\n"
                 "// #cgo pkg-config: devicepool\n// #include <devicepool.h>\nimport \"C\"\n\nimport \"unsafe\"\n\n")
        for row in api.enums:
            kind = "int32" if row["is_signed"] else "uint32"
            text += f"type {self.type_name(row['name'])} {kind}\n\nconst (\n"
            for constant in row["constants"]:
                text += f"\t{self.constant(constant['name'])} {self.type_name(row['name'])} = {constant['value']}\n"
            text += ")\n\n"
        text += "const (\n"
        for row in api.constants:
            text += f"\t{self.constant(row['name'])} = {row['value']}\n"
        text += ")\n\n"
        for row in api.structs:
            name = self.type_name(row["name"])
            if row["kind"] == "union":
                words = row["size"] // 8
                text += f"type {name} struct {{\n\tWords [{words}]uint64\n}}\n\n"
                continue
            text += f"type {name} struct {{\n"
            for member in row["members"]:
                text += f"\t{self.exported(member['name'])} {self.member_type(member)}\n"
            text += "}\n\n"
            if row["members"][0]["name"] == "struct_size":
                text += f"// New{name} is one with its size, the rest zero.\nfunc New{name}() {name} {{\n\treturn {name}{{StructSize: uint64(unsafe.Sizeof({name}{{}}))}}\n}}\n\n"
        for row in api.functions:
            text += self.function(row)
        return {"go/raw/raw.go": text.rstrip() + "\n"}

    def probe(self):
        text = ("// Code generated by src/bindings/generate.py; DO NOT EDIT.\n\n"
                "// Prints sizes, offsets and values as package raw has them.\npackage main\n\nimport (\n\t\"fmt\"\n\t\"unsafe\"\n\n\t\"devicepool/raw\"\n)\n\n"
                "func main() {\n")
        for row in self.api.structs:
            name, c_name = self.type_name(row["name"]), flat(row["name"])
            text += f"\t{{\n\t\tvar item raw.{name}\n"
            text += f"\t\tfmt.Println(\"struct {c_name}\", unsafe.Sizeof(item), unsafe.Alignof(item))\n"
            if row["kind"] != "union":
                for member in row["members"]:
                    field = self.exported(member["name"])
                    text += (f"\t\tfmt.Println(\"member {c_name}.{member['name']}\", unsafe.Offsetof(item.{field}), "
                             f"unsafe.Sizeof(item.{field}))\n")
            text += "\t}\n"
        for name, value in self.api.all_constants():
            shown = f"uint64(raw.{self.constant(name)})" if value > 2**63 - 1 else f"int64(raw.{self.constant(name)})"
            text += f"\tfmt.Println(\"constant {name}\", {shown})\n"
        for row in self.api.functions:
            text += f"\t_ = raw.Fn{self.exported(row['name'])}\n\tfmt.Println(\"function {row['name']} {len(row['parameters'])}\")\n"
        return text + "}\n"


# --- Node --------------------------------------------------------------------------------------------


class Node:
    def __init__(self, api):
        self.api = api

    def code(self, text):
        """p: a pointer; i, u and a number of bytes: an integer; d: a double; v: nothing; s: a string of C."""
        kind = Type(text)
        if text == "const char *":
            return "s"
        if kind.pointers or self.api.is_pointer(kind.name):
            return "p"
        if kind.name == "void":
            return "v"
        if kind.name == "double":
            return "d"
        size, is_signed = self.api.integer(kind.name)
        return f"{'i' if is_signed else 'u'}{size}"

    def member_code(self, member):
        if member["type"] in self.api.struct:
            return member["type"]
        code = "u1" if member["type"] == "char" else self.code(member["type"])
        return "p" if code == "s" else code

    def write(self):
        api = self.api
        source = f"/* {NOTE} */\n/* clang-format off */\n#include \"raw.h\"\n\n#include <devicepool.h>\n\n"
        source += ("/* Arguments are integers and addresses in `a`; so is the result. The compiler compares each call with the\n"
                   "   headers. */\nuint64_t raw_call(uint32_t function, const uint64_t *a)\n{\n    switch (function) {\n")
        for i, row in enumerate(api.functions):
            arguments = []
            for k, parameter in enumerate(row["parameters"]):
                kind = parameter["type"]
                is_pointer = Type(kind).pointers or api.is_pointer(Type(kind).name)
                arguments.append(f"({kind})(uintptr_t)a[{k}]" if is_pointer else f"({kind})a[{k}]")
            call = f"{row['name']}({', '.join(arguments)})"
            returns = row["returns"]
            if returns == "void":
                source += f"    case {i}:\n        {call};\n        return 0;\n"
            elif Type(returns).pointers:
                source += f"    case {i}:\n        return (uint64_t)(uintptr_t){call};\n"
            else:
                source += f"    case {i}:\n        return (uint64_t){call};\n"
        source += "    default:\n        return 0;\n    }\n}\n\n"
        source += "/* Whether a result is a pool_status, whose failures leave a detail. */\nint raw_returns_status(uint32_t function)\n{\n"
        source += "    static const unsigned char returns_status[] = {\n"
        flags = ["1" if row["returns"] == "pool_status" else "0" for row in api.functions]
        for at in range(0, len(flags), 30):
            source += "        " + ", ".join(flags[at:at + 30]) + ",\n"
        source += "    };\n    return function < sizeof(returns_status) && returns_status[function];\n}\n"
        script = f"// {NOTE}\n'use strict';\n\n// The names are those of C. A function: its number, what it returns, its parameters.\nexports.functions = {{\n"
        for i, row in enumerate(api.functions):
            codes = ", ".join(f"'{self.code(parameter['type'])}'" for parameter in row["parameters"])
            names = ", ".join(parameter["name"] for parameter in row["parameters"])
            script += f"  {row['name']}: [{i}, '{self.code(row['returns'])}', [{codes}]], // {names}\n"
        script += "};\n\n// A struct: size, alignment; members: offset, type, size, and the lengths of an array.\nexports.structs = {\n"
        for row in api.structs:
            script += f"  '{row['name']}': {{ size: {row['size']}, alignment: {row['alignment']}, members: {{\n"
            for member in row["members"]:
                array = f", {member['array']}" if "array" in member else ""
                script += f"    {member['name']}: [{member['offset']}, '{self.member_code(member)}', {member['size']}{array}],\n"
            script += "  } },\n"
        script += "};\n\nexports.constants = {\n"
        for name, value in api.all_constants():
            script += f"  {name}: {value}{'n' if abs(value) > 2**53 else ''},\n"
        script += "};\n"
        return {"node/raw.c": source, "node/raw.js": script}


# --- what the headers say ----------------------------------------------------------------------------


def probe(api):
    """A C program that prints the lines that the probes of the bindings print."""
    headers = sorted({row["header"] for rows in (api.functions, api.structs, api.enums, api.constants) for row in rows})
    text = "#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n"
    text += "".join(f"#include <devicepool/{header}>\n" for header in headers)
    text += "\nint main(void)\n{\n"
    for row in api.structs:
        outer, _, path = row["name"].partition(".")
        whole = f"((({outer} *)0)->{path})" if path else row["name"]
        name, prefix = flat(row["name"]), f"{path}." if path else ""
        text += f"    printf(\"struct {name} %zu %zu\\n\", sizeof({whole}), _Alignof(__typeof__({whole})));\n"
        for member in row["members"]:
            item = f"{prefix}{member['name']}"
            base = f" - offsetof({outer}, {path})" if path else ""
            text += (f"    printf(\"member {name}.{member['name']} %zu %zu\\n\", offsetof({outer}, {item}){base}, "
                     f"sizeof((({outer} *)0)->{item}));\n")
    for name, value in api.all_constants():
        kind, cast = ("%llu", "unsigned long long") if value > 2**63 - 1 else ("%lld", "long long")
        text += f"    printf(\"constant {name} {kind}\\n\", ({cast}){name});\n"
    for row in api.functions:
        text += f"    printf(\"function {row['name']} {len(row['parameters'])}\\n\");\n"
    return text + "    return 0;\n}\n"


def main():
    if sys.argv[1] == "--probes":
        api = Api(sys.argv[2])
        for name, text in {"probe.c": probe(api), "probe.rs": Rust(api).probe(), "probe.go": Go(api).probe()}.items():
            pathlib.Path(sys.argv[3], name).write_text(text, encoding="utf-8")
        return
    api = Api(sys.argv[1])
    for writer in (Python, Rust, Go, Node):
        for name, text in writer(api).write().items():
            path = pathlib.Path(sys.argv[2], name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
