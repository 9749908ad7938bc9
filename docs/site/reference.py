# SPDX-License-Identifier: Apache-2.0
"""The pages of the API reference: one per public header, in the tiers of devicepool.h, from the description of the API
(api.json, include/describe.py) and the comments in the headers."""
import html
import json
import pathlib
import re

INCLUDE = re.compile(r"#include <devicepool/(\w+\.h)>")
TIER = re.compile(r"/\* ([a-z ]+) \*/$")
OUTSIDE = {"mpi.h": "several hosts", "mock.h": "testing"}  # not in devicepool.h: they belong to libraries of their own
LIBRARY = {"mpi.h": "libdevicepool-mpi", "mock.h": "libdevicepool-mock"}
COLUMNS = 88  # of a signature in one line
NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+)?")


class Item:
    """One entry of a header's page: a type, or the functions that share a comment."""

    def __init__(self, kind, row):
        self.kind, self.rows = kind, [row]
        self.line, self.comment = row["line"], row["comment"]

    def names(self):
        return [row["name"] for row in self.rows]


class Header:
    def __init__(self, name, tier, text):
        self.name, self.tier = name, tier
        self.url = f"reference/{name.removesuffix('.h')}.html"
        comments = re.findall(r"/\*.*?\*/", text, re.S)
        self.about = comments[1] if len(comments) > 1 else ""
        # The headings between declarations, by line: /* ---- texts ---- */
        self.headings = [(text.count("\n", 0, found.start()), found[1].strip())
                         for found in re.finditer(r"/\* -{3,} (.*?) -{3,}", text)]
        self.includes = re.findall(r"^#include <devicepool/(\w+\.h)>", text, re.M)
        self.items = []

    def summary(self):
        return " ".join(re.split(r"\n\s*\n", plain(self.about))[0].split())


def plain(comment):
    """The text of a comment without its marks."""
    lines = [re.sub(r"^\s*\* ?", "", line) for line in comment[2:-2].split("\n")]
    return "\n".join(lines).strip("\n")


def tiers_of(umbrella):
    """The tier of each header, in the order of devicepool.h."""
    tiers, tier = {}, None
    for line in umbrella.split("\n"):
        if TIER.match(line):
            tier = TIER.match(line)[1]
        elif INCLUDE.match(line):
            tiers[INCLUDE.match(line)[1]] = tier
    return {**tiers, **OUTSIDE}


class Reference:
    def __init__(self, include, description):
        """`include` is the directory of devicepool.h, `description` the file api.json."""
        self.api = json.loads(pathlib.Path(description).read_text(encoding="utf-8"))
        self.inputs = [include / "devicepool.h"] + sorted(include.glob("devicepool/*.h"))
        self.headers = {}
        tiers = tiers_of(self.inputs[0].read_text(encoding="utf-8"))
        for name, tier in tiers.items():
            text = (include / "devicepool" / name).read_text(encoding="utf-8")
            self.headers[name] = Header(name, tier, text)
        self.signature = {row["name"]: row for row in self.api["callbacks"]}
        self.struct = {row["name"]: row for row in self.api["structs"]}
        self.symbols, self.entries = {}, []  # name -> URL; (name, kind, URL) for the search
        self.collect()

    def tiers(self):
        """(tier, its headers) in order."""
        for tier in dict.fromkeys(header.tier for header in self.headers.values()):
            yield tier, [header for header in self.headers.values() if header.tier == tier]

    def collect(self):
        for kind, rows in (("handle", "handles"), ("type", "aliases"), ("enum", "enums"), ("struct", "structs"),
                           ("callback", "callbacks"), ("constant", "constants"), ("function", "functions")):
            for row in self.api[rows]:
                if "." not in row["name"] and row["header"] in self.headers:
                    self.headers[row["header"]].items.append(Item(kind, row))
        for header in self.headers.values():
            header.items.sort(key=lambda item: item.line)
            joined = []
            for item in header.items:
                last = joined[-1] if joined else None
                if last and item.comment and (last.kind, last.comment) == (item.kind, item.comment):
                    last.rows += item.rows
                else:
                    joined.append(item)
            header.items = joined
            self.symbols[header.name] = self.symbols[f"devicepool/{header.name}"] = header.url
            self.entries.append((header.name, "header", header.url))
            for item in joined:
                for row in item.rows:
                    self.add(header, row["name"], item.kind)
                    for constant in row.get("constants", ()):
                        self.add(header, constant["name"], "constant")
                    if item.kind == "struct":
                        self.add_members(header, row["name"], row)

    def add(self, header, name, kind):
        self.symbols[name] = f"{header.url}#{name}"
        self.entries.append((name, kind, self.symbols[name]))

    def add_members(self, header, name, row):
        for member in row["members"]:
            self.add(header, f"{name}.{member['name']}", "member")
            if member["type"].startswith(row["name"] + ".") and member["type"] in self.struct:
                self.add_members(header, f"{name}.{member['name']}", self.struct[member["type"]])

    # HTML of a header's page. `link` makes HTML of code, with links of the names in it.

    def page(self, header, link):
        yield f'<p class="tier">{html.escape(header.tier)} · <code>#include &lt;devicepool/{header.name}&gt;</code>'
        if header.name in LIBRARY:
            yield f" · {LIBRARY[header.name]}"
        yield "</p>" + self.prose(plain(header.about), link)
        if header.includes:
            yield "<p>Includes " + ", ".join(link(name) for name in header.includes) + ".</p>"
        headings = list(header.headings)
        for item in header.items:
            while headings and headings[0][0] < item.line:
                text = headings.pop(0)[1]
                yield f'<h2 id="{text.replace(" ", "-")}">{html.escape(text[0].upper() + text[1:])}</h2>'
            yield self.item(item, link)

    def item(self, item, link):
        parts = [f'<section class="item" id="{item.rows[0]["name"]}" aria-label="{item.rows[0]["name"]}">']
        if item.kind == "function":
            parts += [self.signatures(item, link), self.prose(item.comment, link)]
        elif item.kind == "constant":
            rows = "".join(self.constant(row, link, i > 0) for i, row in enumerate(item.rows))
            parts += [self.prose(item.comment, link), f"<dl>{rows}</dl>"]
        else:
            for i, row in enumerate(item.rows):
                name = f' id="{row["name"]}"' if i else ""
                parts.append(f"<pre{name}>{self.declaration(item.kind, row, link)}</pre>")
                if i + 1 == len(item.rows) or row.get("members") or row.get("constants"):
                    parts.append(self.prose(item.comment if i + 1 == len(item.rows) else "", link))
                if item.kind == "enum":
                    parts.append("<dl>" + "".join(self.constant(one, link, True) for one in row["constants"]) + "</dl>")
                elif item.kind == "struct":
                    parts.append("<dl>" + "".join(self.members(row, row["name"], "", link)) + "</dl>")
        return "".join(parts) + "</section>"

    def declaration(self, kind, row, link):
        name = f'<b>{row["name"]}</b>'
        if kind == "callback":
            return "typedef " + self.prototype(row, f"(*{name})", f'(*{row["name"]})', link) + ";"
        if kind == "type":
            return f"typedef {link(row['type'] or '…')} {name};"
        if kind == "handle":
            return f"typedef struct {row['name']} {name};"
        note = f' <i>{row["size"]} bytes</i>' if kind == "struct" else ""
        return f"{kind} {name};{note}"

    def signatures(self, item, link):
        lines = []
        for i, row in enumerate(item.rows):
            name = row["name"]
            text = self.prototype(row, f"<b>{name}</b>", name, link) + ";"
            if row.get("remark"):
                text += f' <i>{html.escape(row["remark"])}</i>'
            lines.append(f'<span id="{name}">{text}</span>' if i else text)
        return "<pre>" + "\n".join(lines) + "</pre>"

    @staticmethod
    def prototype(row, name, text, link, columns=COLUMNS):
        """A function's declaration with `name` in it, whose plain text is `text`; over several lines if it is long."""
        parameters = []
        for parameter in row["parameters"]:
            one, array = parameter["type"], "".join(f"[{length or ''}]" for length in parameter.get("array", ()))
            if array:
                one = re.sub(r" ?\*$", "", one)
            gap = "" if one.endswith("*") or not parameter["name"] else " "
            parameters.append(one + gap + parameter["name"] + array)
        before = row["returns"] + ("" if row["returns"].endswith("*") else " ")
        whole = before + text + "(" + ", ".join(parameters) + ");"
        separator, start = (", ", "") if len(whole) <= columns else (",\n    ", "\n    ")
        inner = separator.join(link(parameter) for parameter in parameters) or "void"
        return f"{link(row['returns'])}{before[len(row['returns']):]}{name}({start}{inner})"

    def members(self, row, path, prefix, link):
        for member in row["members"]:
            name, kind = f"{path}.{member['name']}", member["type"]
            array = "".join(f"[{length}]" for length in member.get("array", ()))
            inner = self.struct.get(kind) if kind.startswith(row["name"] + ".") else None
            if kind in self.signature and "." in kind:
                text = self.prototype(self.signature[kind], f"(*<b>{prefix}{member['name']}</b>)",
                                      f"(*{prefix}{member['name']})", link, 1000)
            else:
                start = link(kind) + ("" if kind.endswith("*") else " ") if not inner else f"{inner['kind']} "
                text = f"{start}<b>{prefix}{member['name']}{array}</b>"
            yield f'<dt id="{name}"><code>{text}</code></dt>' + self.description(member["comment"], link)
            if inner:
                yield from self.members(inner, name, f"{prefix}{member['name']}.", link)

    def constant(self, row, link, has_id):
        place = f' id="{row["name"]}"' if has_id else ""
        value = row["value"]
        if value > 1 << 20:
            bits = next((bits for bits in (32, 64) if value == (1 << bits) - 1), None)
            value = f"2^{bits} - 1" if bits else hex(value)
        text = row.get("remark") or ("" if "header" in row else row["comment"])
        return f'<dt{place}><code><b>{row["name"]}</b> = {value}</code></dt>' + self.description(text, link)

    def description(self, text, link):
        return f"<dd>{self.prose(text, link)}</dd>" if text else ""

    def prose(self, text, link):
        """HTML of a comment: paragraphs, and indented lines as they are."""
        parts = []
        for block in re.split(r"\n\s*\n", text.strip("\n")):
            lines, run, is_indented = block.split("\n"), [], None
            for line in lines + [None]:
                kind = None if line is None else line.startswith("  ")
                if run and kind != is_indented:
                    parts.append(self.indented(run, link) if is_indented else f"<p>{self.sentence(' '.join(run), link)}</p>")
                    run = []
                is_indented = kind
                run.append(line)
        return "".join(parts) if text else ""

    @staticmethod
    def indented(lines, link):
        least = min(len(line) - len(line.lstrip()) for line in lines)
        return "<pre>" + link("\n".join(line[least:] for line in lines)) + "</pre>"

    @staticmethod
    def sentence(text, link):
        """Code spans, and public names outside of them."""
        parts = re.split(r"`([^`]*)`", text)
        return "".join(f"<code>{link(part)}</code>" if i % 2 else link(part, True) for i, part in enumerate(parts))
