#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Describes the public API as JSON, for bindings to other languages: share/devicepool/api.json,
whose contents docs/api-conventions.md explains.

    describe.py layout OUTPUT.c HEADER... -- COMPILER...
    describe.py json OUTPUT.json VERSION OBJECT HEADER... -- COMPILER...

The headers are expanded by the target's compiler (its -E), with empty files in place of the system's
headers, and parsed here. Sizes, offsets and values are constant expressions, which only a compiler knows:
the first call writes them as the initialiser of an array of bytes, Meson compiles that, and the second call
finds the array in the object file. Nothing is executed on the target.

The parser knows the declarations that the headers have. It fails at any other, so that none is missing.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

SYSTEM_HEADERS = ("stddef.h", "stdint.h", "mpi.h")
# What the system's headers and the language define; the target's compiler says how large they are.
BASIC_TYPES = (
    "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long",
    "unsigned long", "long long", "unsigned long long", "float", "double", "size_t", "int8_t", "int16_t",
    "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "void *")
EXTERNAL_TYPES = {"MPI_Comm": "mpi.h"}
# An array of bytes: a mark, then for each value its 64 bits, lowest first, and 1 for signed types.
MARK = b"devicepool-" + b"api-layout:1\0"
VALUE_BYTES = 9

TOKEN = re.compile(r"""
    (?P<marker>^\#[ ]+(?P<line>\d+)[ ]+"(?P<file>[^"\n]*)"[^\n]*\n)
  | (?P<directive>^\#[^\n]*\n)
  | (?P<comment>/\*.*?\*/)
  | (?P<string>"(?:[^"\\\n]|\\.)*")
  | (?P<number>(?:0x[0-9a-fA-F]+|\d+)[uUlL]*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<newline>\n)
  | (?P<space>[^\S\n]+)
  | (?P<mark>\.\.\.|.)
""", re.X | re.M | re.S)


class Token:
    def __init__(self, kind, text, header, line):
        self.kind = kind
        self.text = text
        self.header = header
        self.line = line
        self.last_line = line + text.count("\n")


def fail(token, message):
    sys.exit(f"describe.py: {token.header}:{token.line}: {message}, at \"{token.text}\"")


# --- the text ----------------------------------------------------------------------------------------


def expand(headers, compiler):
    """All headers after the preprocessor, with comments and line markers."""
    directory = os.path.dirname(os.path.dirname(headers[0]))
    with tempfile.TemporaryDirectory() as empty:
        for name in SYSTEM_HEADERS:
            with open(os.path.join(empty, name), "w", encoding="utf-8"):
                pass
        source = os.path.join(empty, "headers.c")
        with open(source, "w", encoding="utf-8") as file:
            for header in headers:
                file.write(f"#include <devicepool/{os.path.basename(header)}>\n")
        done = subprocess.run(
            compiler + ["-E", "-C", "-DPOOL_BUILDING", "-nostdinc", f"-I{empty}", f"-I{directory}", source],
            capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"describe.py: {' '.join(compiler)} -E failed:\n{done.stderr}")
    return done.stdout


def tokenize(text, names):
    """The tokens of the public headers, comments included."""
    tokens = []
    header, line = None, 1
    for match in TOKEN.finditer(text):
        kind = match.lastgroup if match.lastgroup not in ("line", "file") else "marker"
        if kind == "marker":
            name = os.path.basename(match["file"])
            is_ours = os.path.basename(os.path.dirname(match["file"])) == "devicepool" and name in names
            header, line = name if is_ours else None, int(match["line"])
            continue
        if header and kind not in ("newline", "space", "directive"):
            tokens.append(Token(kind, match.group(0), header, line))
        line += match.group(0).count("\n")
    return tokens


def plain_comment(text):
    """The text of a comment: each paragraph on one line, an empty line between two, indented lines as they are."""
    paragraphs, is_open = [], False
    for line in text[2:-2].split("\n"):
        line = re.sub(r"^\s*\* ?", "", line).rstrip() if paragraphs or is_open or line.strip() else ""
        is_indented = line.startswith("  ") and bool(paragraphs)
        if not line.strip():
            is_open = False
        elif is_open and is_indented == is_open_indented:
            paragraphs[-1] += ("\n" if is_indented else " ") + (line if is_indented else line.strip())
        else:
            paragraphs.append(line if is_indented else line.strip())
            is_open, is_open_indented = True, is_indented
    return "\n\n".join(paragraphs)


def texts_of(before, behind, line):
    """The comment before a group of declarations, the one behind a declaration of it, and where that is."""
    return {"comment": before or behind, "line": line, **({"remark": behind} if before and behind else {})}


# --- declarations ------------------------------------------------------------------------------------

BASE_WORDS = {"void", "char", "short", "int", "long", "float", "double", "signed", "unsigned"}


class Parser:
    def __init__(self, tokens):
        comments = [token for token in tokens if token.kind == "comment"]
        self.comment_by_first_line = {(token.header, token.line): token for token in comments}
        self.comment_by_last_line = {(token.header, token.last_line): token for token in comments}
        self.tokens = [token for token in tokens if token.kind != "comment"]
        self.at = 0
        self.functions, self.callbacks, self.structs, self.enums = [], [], [], []
        self.aliases, self.forward = [], {}

    # tokens

    def peek(self, ahead=0):
        index = self.at + ahead
        return self.tokens[index] if index < len(self.tokens) else Token("end", "", "the end", 0)

    def take(self, text=None, kind=None):
        token = self.peek()
        if (text and token.text != text) or (kind and token.kind != kind) or token.kind == "end":
            fail(token, f"expected {text or kind or 'a token'}")
        self.at += 1
        return token

    def accept(self, text):
        if self.peek().text == text:
            return self.take()
        return None

    def skip_parentheses(self):
        depth = 0
        while True:
            token = self.take()
            depth += {"(": 1, ")": -1}.get(token.text, 0)
            if not depth:
                return

    # comments

    def comment_before(self, token, previous_line):
        """The comment that ends on the line before `token`, behind anything on `previous_line`."""
        comment = self.comment_by_last_line.get((token.header, token.line - 1))
        return plain_comment(comment.text) if comment and comment.line > previous_line else ""

    def comment_behind(self, token):
        """The comment on the line of `token`, behind the last token of the line."""
        comment = self.comment_by_first_line.get((token.header, token.last_line))
        return plain_comment(comment.text) if comment else ""

    def describe_item(self, first, last, previous_line):
        """Of a member or constant: behind it, or before it. Before a line with both is a heading."""
        return self.comment_behind(last) or self.comment_before(first, previous_line)

    # types

    def specifiers(self, owner):
        """`const struct x`, `unsigned int` or a name, as one string; without `struct` in members and parameters, where it
        only stands before a type of a header that is not included."""
        qualifiers, words = [], []
        while True:
            token = self.peek()
            if token.text in ("const", "volatile"):
                qualifiers.append(self.take().text)
            elif token.text in ("struct", "enum", "union") and not words:
                word = self.compound(owner)
                words.append(word.removeprefix("struct ") if owner else word)
            elif token.text in BASE_WORDS and (not words or words[-1] in BASE_WORDS):
                words.append(self.take().text)
            elif token.kind == "name" and not words:
                words.append(self.take().text)
            else:
                break
        if not words:
            fail(self.peek(), "expected a type")
        return " ".join(qualifiers + words)

    def compound(self, owner):
        """A struct, union or enum: defined here, or its name."""
        kind = self.take()
        tag = self.take().text if self.peek().kind == "name" else None
        if self.peek().text != "{":
            return f"{kind.text} {tag}"
        if kind.text == "enum":
            self.enum_body(tag or owner, kind)
        else:
            self.struct_body(tag or owner, kind)
        return tag or owner

    def pointers(self):
        text = ""
        while self.accept("*"):
            text += "*"
            while self.peek().text == "const":
                self.take()
                text += "const "
        return text.strip()

    def declarator(self, specifiers, owner):
        """One declarator: its name, its type, whether it is an array."""
        stars = self.pointers()
        if self.peek().text == "(" and self.peek(1).text == "*":
            if stars:
                specifiers = f"{specifiers} {stars}"
            self.take("(")
            self.take("*")
            name = self.take(kind="name")
            self.take(")")
            full = f"{owner}.{name.text}" if owner else name.text
            parameters = self.parameters(full)
            self.callbacks.append({"name": full, "header": name.header, "returns": specifiers,
                                   "parameters": parameters})
            return name, full, []
        name = self.take(kind="name") if self.peek().kind == "name" else None
        dimensions = []
        while self.accept("["):
            dimension = ""
            while self.peek().text != "]":
                dimension += self.take().text
            self.take("]")
            dimensions.append(dimension)
        return name, f"{specifiers} {stars}".strip(), dimensions

    def parameters(self, owner):
        self.take("(")
        found = []
        while self.peek().text != ")":
            specifiers = self.specifiers(owner)
            name, text, dimensions = self.declarator(specifiers, owner)
            if text == "void" and not name:
                break
            row = {"name": name.text if name else "", "type": text}
            if dimensions:
                row["type"] = text + ("*" if text.endswith("*") else " *")
                row["array"] = dimensions
            found.append(row)
            if not self.accept(","):
                break
        self.take(")")
        return found

    def enum_body(self, name, start):
        self.take("{")
        constants = []
        previous_line = self.peek(-1).line
        while self.peek().text != "}":
            first = last = self.take(kind="name")
            if self.accept("="):
                depth = 0
                while depth or self.peek().text not in (",", "}"):
                    last = self.take()
                    depth += {"(": 1, ")": -1}.get(last.text, 0)
            last = self.accept(",") or last
            constants.append({"name": first.text,
                              "comment": self.describe_item(first, last, previous_line)})
            previous_line = last.line
        self.take("}")
        self.enums.append({"name": name, "header": start.header, "constants": constants})

    def struct_body(self, name, start):
        self.take("{")
        members = []
        row = {"name": name, "header": start.header, "kind": start.text, "members": members}
        self.structs.append(row)
        previous_line = self.peek(-1).line
        while self.peek().text != "}":
            first = self.peek()
            inner = self.peek(1).text == "{" and first.text in ("struct", "union")
            place = len(self.structs)
            specifiers = self.specifiers(f"{name}.?" if inner else name)
            while True:
                member, text, dimensions = self.declarator(specifiers, name)
                if not member:
                    fail(self.peek(), "expected a member's name")
                if inner:  # an unnamed struct has the name of its member
                    text = f"{name}.{member.text}"
                    self.structs[place]["name"] = text
                members.append({"name": member.text, "type": text, "dimensions": dimensions})
                if not self.accept(","):
                    break
            last = self.take(";")
            members[-1]["comment"] = self.describe_item(first, last, previous_line)
            previous_line = last.line
        self.take("}")

    # the headers

    def run(self):
        group = {"header": None, "line": -1, "comment": ""}
        while self.peek().kind != "end":
            first = self.peek()
            if self.accept(";"):
                continue
            follows = group["header"] == first.header
            comment = self.comment_before(first, group["line"] if follows else 0)
            if not comment and follows and group["line"] + 1 == first.line:
                comment = group["comment"]
            marks = [len(rows) for rows in (self.functions, self.callbacks, self.structs, self.enums)]
            last = self.declaration()
            group = {"header": first.header, "line": last.line, "comment": comment}
            texts = texts_of(comment, self.comment_behind(last), first.line)
            for rows, mark in zip((self.functions, self.callbacks, self.structs, self.enums), marks):
                for row in rows[mark:]:
                    if "." not in row["name"]:
                        row.update(texts)
            for row in self.aliases + list(self.forward.values()):
                if "comment" not in row:
                    row.update(texts)

    def declaration(self):
        is_exported = False
        while self.peek().text == "__attribute__":
            self.take()
            self.skip_parentheses()
            is_exported = True
        is_typedef = bool(self.accept("typedef"))
        first = self.peek()
        specifiers = self.specifiers(None)
        if self.peek().text == ";" and not is_typedef:  # struct x;
            return self.take(";")
        if is_typedef:
            return self.type_definition(specifiers, first)
        stars = self.pointers()
        name = self.take(kind="name")
        if not is_exported and name.header != "mock.h":
            fail(name, "a function without POOL_API")
        returns = f"{specifiers} {stars}".strip()
        self.functions.append({"name": name.text, "header": name.header, "library": library_of(name.header),
                               "returns": returns, "parameters": self.parameters(name.text)})
        return self.take(";")

    def type_definition(self, specifiers, first):
        if self.peek().text == "(":
            self.declarator(specifiers, None)
            return self.take(";")
        stars = self.pointers()
        name = self.take(kind="name")
        if specifiers == f"struct {name.text}" and not stars:
            self.forward[name.text] = {"name": name.text, "header": name.header}
        elif specifiers != name.text:
            # A pointer to a struct of the driver, which nobody defines.
            text = f"{specifiers} {stars}".strip()
            self.aliases.append({"name": name.text, "header": name.header,
                                 "type": "void *" if first.text == "struct" else text})
        return self.take(";")


def library_of(header):
    return {"mock.h": "devicepool-mock", "mpi.h": "devicepool-mpi"}.get(header, "devicepool")


def read_constants(headers):
    """Macros that stand for numbers, in the order of the headers."""
    constants = []
    for header in headers:
        with open(header, encoding="utf-8") as file:
            text = file.read()
        pattern = r"(?P<before>(?:/\*(?:(?!\*/).)*\*/\n)?)^\#define[ ]+(?P<name>POOL_\w+)(?P<body>(?:[^\n\\]|\\\n?)*)\n"
        previous = (-1, "")
        for match in re.finditer(pattern, text, re.X | re.M | re.S):
            body = match["body"]
            start = match.start("name")
            before = plain_comment(match["before"].rstrip()) if match["before"] else ""
            if not before and previous[0] == text.rfind("\n", 0, start):
                before = previous[1]
            previous = (match.end() - 1, before)
            body = body.replace("\\\n", " ")
            behind = re.search(r"/\*.*?\*/", body, re.S)
            value = re.sub(r"/\*.*?\*/", " ", body, flags=re.S).strip()
            if body.startswith("(") or not value or "__attribute__" in value:
                continue
            texts = texts_of(before, plain_comment(behind.group(0)) if behind else "", text.count("\n", 0, start) + 1)
            constants.append({"name": match["name"], "header": os.path.basename(header), **texts})
    return constants


# --- what the compiler says --------------------------------------------------------------------------


class Layout:
    """Constant expressions, whose values are taken in the same order: first written, then read."""

    def __init__(self, values=None):
        self.expressions = []
        self.values = iter(values) if values is not None else None

    def ask(self, expression):
        self.expressions.append(expression)
        if self.values is None:
            return 0
        value, is_signed = next(self.values)
        self.is_signed = is_signed
        return value - (1 << 64) if is_signed and value >> 63 else value


def describe(headers, compiler, layout, version):
    names = [os.path.basename(header) for header in headers]
    parser = Parser(tokenize(expand(headers, compiler), names))
    parser.run()
    defined = {row["name"] for row in parser.structs}
    handles = [row for name, row in parser.forward.items() if name not in defined]
    types = resolve_types(parser, handles)
    result = {
        "version": version,
        "byte_order": "little" if layout.ask("__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__") else "big",
        "types": [],
        "handles": handles,
        "aliases": parser.aliases,
        "enums": parser.enums,
        "structs": parser.structs,
        "callbacks": parser.callbacks,
        "functions": parser.functions,
        "constants": read_constants(headers),
    }
    for name in BASIC_TYPES:
        is_number = "*" not in name
        size = layout.ask(f"sizeof({name})")
        is_signed = layout.ask(f"({name})-1 < ({name})1") if is_number else 0
        result["types"].append({"name": name, "size": size, "is_signed": bool(is_signed)})
    for name, header in EXTERNAL_TYPES.items():
        if name in types.used:
            parser.aliases.append({"name": name, "header": header, "type": "", "comment": "", "line": 0,
                                   "size": layout.ask(f"sizeof({name})")})
    for row in parser.aliases:
        row["size"] = layout.ask(f"sizeof({row['name']})")
    for row in parser.enums:
        row["size"] = layout.ask(f"sizeof({row['name']})")
        row["is_signed"] = bool(layout.ask(f"({row['name']})-1 < ({row['name']})1"))
        for constant in row["constants"]:
            constant["value"] = layout.ask(constant["name"])
    for row in parser.structs:
        describe_struct(row, layout)
    for rows in (parser.functions, parser.callbacks):
        for row in rows:
            for parameter in row["parameters"]:
                if "array" in parameter:
                    parameter["array"] = [layout.ask(text) for text in parameter["array"]]
    for row in result["constants"]:
        row["value"] = layout.ask(row["name"])
        bits = layout.ask(f"sizeof({row['name']})") * 8
        is_signed = layout.ask(f"({row['name']}) * 0 - 1 < 0")
        row["type"] = f"{'' if is_signed else 'u'}int{bits}_t"
    return result


def describe_struct(row, layout):
    # A struct without a name is a member of one that has a name.
    outer, _, path = row["name"].partition(".")
    whole = f"((({outer} *)0)->{path})" if path else row["name"]
    prefix = f"{path}." if path else ""
    row["size"] = layout.ask(f"sizeof({whole})")
    row["alignment"] = layout.ask(f"_Alignof(__typeof__({whole}))")
    has_size = row["members"][0]["name"] == "struct_size"
    for member in row["members"]:
        name = f"{prefix}{member['name']}"
        item = f"(({outer} *)0)->{name}"
        start = f"offsetof({outer}, {name})"
        member["offset"] = layout.ask(f"{start} - offsetof({outer}, {path})" if path else start)
        member["size"] = layout.ask(f"sizeof({item})")
        sizes = [member["size"]]
        for _ in member["dimensions"]:
            item += "[0]"
            sizes.append(layout.ask(f"sizeof({item})"))
        if member["dimensions"]:
            member["array"] = [a // b if b else 0 for a, b in zip(sizes, sizes[1:])]
        del member["dimensions"]
        if has_size:
            member["struct_size"] = member["offset"] + member["size"]


class resolve_types:
    """Removes `struct` and `enum` before names that are types, and fails for types that nobody defines."""

    def __init__(self, parser, handles):
        self.used = set()
        self.known = {row["name"] for rows in (parser.structs, parser.enums, parser.callbacks, parser.aliases,
                                               handles) for row in rows}
        self.known |= set(BASIC_TYPES) | set(EXTERNAL_TYPES) | {"void"}
        for rows in (parser.functions, parser.callbacks):
            for row in rows:
                row["returns"] = self.resolve(row["returns"], row["name"])
                for parameter in row["parameters"]:
                    parameter["type"] = self.resolve(parameter["type"], row["name"])
        for row in parser.structs:
            for member in row["members"]:
                member["type"] = self.resolve(member["type"], row["name"])

    def resolve(self, text, owner):
        text = re.sub(r"\b(?:struct|enum|union) ", "", text)
        text = re.sub(r"\bunsigned\b(?! (?:char|short|int|long))", "unsigned int", text)
        name = re.sub(r"\bconst\b|\*", " ", text)
        name = " ".join(name.split())
        self.used.add(name)
        if name not in self.known:
            sys.exit(f"describe.py: {owner}: no definition of the type \"{name}\" is known")
        return text


KEYS = ("name", "header", "line", "library", "kind", "type", "returns", "value", "offset", "size", "alignment",
        "is_signed", "array", "struct_size", "parameters", "constants", "members", "comment", "remark")


def in_order(value):
    """The same with the keys of objects in one order."""
    if isinstance(value, list):
        return [in_order(item) for item in value]
    if isinstance(value, dict):
        return {key: in_order(value[key]) for key in sorted(value, key=KEYS.index)}
    return value


def format_json(described):
    """JSON with one line for each item of the lists."""
    parts = []
    for name, value in described.items():
        if isinstance(value, list):
            rows = [json.dumps(in_order(row), ensure_ascii=False) for row in value]
            parts.append(f'"{name}": [\n ' + ",\n ".join(rows) + "\n]")
        else:
            parts.append(f'"{name}": {json.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


# --- the two calls -----------------------------------------------------------------------------------


def write_layout(path, headers, compiler):
    layout = Layout()
    describe(headers, compiler, layout, "")
    with open(path, "w", encoding="utf-8") as file:
        file.write("/* Written by describe.py: values of the public API as the target has them. */\n"
                   "#include <stddef.h>\n#include <stdint.h>\n\n")
        for header in headers:
            file.write(f"#include <devicepool/{os.path.basename(header)}>\n")
        shifts = ", ".join(f"(unsigned char)((unsigned long long)(v) >> {8 * i})" for i in range(8))
        file.write(f"\n#define VALUE(v) {shifts}, ((v) * 0 - 1 < 0)\n\n")
        mark = ", ".join(str(byte) for byte in MARK)
        file.write("extern const unsigned char devicepool_api_layout[];\n"
                   f"const unsigned char devicepool_api_layout[] = {{{mark},\n")
        for expression in layout.expressions:
            file.write(f"    VALUE({expression}),\n")
        file.write("};\n")


def read_layout(path, headers, compiler, version):
    with open(path, "rb") as file:
        content = file.read()
    if content.count(MARK) != 1:
        sys.exit(f"describe.py: {path} has the mark {content.count(MARK)} times: is it an object file with code, "
                 "not with an intermediate form?")
    start = content.index(MARK) + len(MARK)

    def values():
        for at in range(start, len(content), VALUE_BYTES):
            yield int.from_bytes(content[at:at + 8], "little"), bool(content[at + 8])

    return describe(headers, compiler, Layout(values()), version)


def main():
    action, output = sys.argv[1:3]
    cut = sys.argv.index("--")
    inputs, compiler = sys.argv[3:cut], sys.argv[cut + 1:]
    if action == "layout":
        write_layout(output, inputs, compiler)
        return
    described = read_layout(inputs[1], inputs[2:], compiler, inputs[0])
    with open(output, "w", encoding="utf-8") as file:
        file.write(format_json(described))


if __name__ == "__main__":
    main()
