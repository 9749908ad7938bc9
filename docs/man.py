#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes man pages of section 7 from the pages of this directory: guide.md becomes devicepool-guide.7, and its line of
README.md is its description. The Markdown is what the pages use: headings, paragraphs, lists, tables, code, links.

usage: man.py DIRECTORY VERSION PAGE.md...     into DIRECTORY
"""
import pathlib
import re
import sys
import time

DOCS = pathlib.Path(__file__).resolve().parent
BULLET = re.compile(r"^(\s*)([-*]|\d+\.) +(.*)$")


def escaped(text):
    return text.replace("\\", "\\e")


def line(text):
    """A line of text, not a request."""
    return "\\&" + text if text[:1] in (".", "'") else text


def code(text):
    return escaped(text).replace("-", "\\-").replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti").replace("'", "\\(aq")


def plain(text):
    return escaped(text).replace("^", "\\(ha").replace("~", "\\(ti").replace("`", "\\(ga")


def inline(text, pages):
    """Code, emphasis and links."""
    def link(match):
        label, target = match.group(1), match.group(2)
        page = re.sub(r"#.*", "", target)
        if page in pages:
            name = f"\\fBdevicepool\\-{code(page[:-3])}\\fR(7)"
            return name if label.strip("`") == page else f"{inline(label, pages)} ({name})"
        shown = inline(label, pages)
        if not page or label.strip("`") in (target, pathlib.PurePath(page).name):
            return shown
        return f"{shown} ({plain(target)})"

    made, rest = "", text
    pattern = re.compile(r"(?P<ticks>`+)(?P<code>.+?)(?P=ticks)|!?\[(?P<label>(?:[^\[\]`]|`[^`]*`)+)\]\((?P<target>[^)\s]+)\)"
                         r"|\*\*(?P<bold>[^*]+)\*\*|(?<![\w*])\*(?P<italic>[^*\s][^*]*)\*(?![\w*])|(?P<raw>\\[\\`*_|<>\[\]])")
    while match := pattern.search(rest):
        made += plain(rest[:match.start()])
        if match.group("code"):
            made += f"\\fB{code(match.group('code').strip())}\\fR"
        elif match.group("target"):
            made += link(re.match(r"!?\[(.+)\]\((\S+)\)$", match.group(0)))
        elif match.group("bold"):
            made += f"\\fB{inline(match.group('bold'), pages)}\\fR"
        elif match.group("italic"):
            made += f"\\fI{inline(match.group('italic'), pages)}\\fR"
        else:
            made += plain(match.group("raw")[1:])
        rest = rest[match.end():]
    return made + plain(rest)


def table(rows, pages):
    """A table where it fits a line; else each row is a tag, its first cell, and the others under their headings."""
    cells = [[cell.strip().replace("\0", "|") for cell in row.strip()[1:].removesuffix("|").replace("\\|", "\0").split("|")]
             for row in rows]
    head, body = cells[0], cells[2:]
    count = len(head)
    widths = [max(len(row[i]) if i < len(row) else 0 for row in [head, *body]) for i in range(count)]
    head, body = [inline(cell, pages) for cell in head], [[inline(cell, pages) for cell in row] for row in body]
    if sum(widths) + 3 * count <= 60:
        shown = ([head] if any(head) else []) + body
        formats = [" ".join(["lb"] * count)] if any(head) else []
        return [".TS", "nokeep;", *formats, " ".join(["l"] * count) + "."] + ["\t".join(map(line, row)) for row in shown] + [".TE"]
    made = []
    for row in body:
        made += [".TP", line(row[0] or "\\ ")]
        for name, cell in zip(head[1:], row[1:]):
            if cell:
                made += [line(f"{name}: {cell}" if name and count > 2 else cell), ".br"]
        if made[-1] == ".br":
            made.pop()
    return made


def page_of(name, text, about, version, date, pages):
    title = f"devicepool-{name[:-3]}"
    out = ["'\\\" t", ".\\\" Made by docs/man.py from docs/" + name,
           f'.TH {title.upper()} 7 {date} "devicepool {version}" "devicepool"', ".nh", ".ad l", ".SH NAME",
           f"{title.replace('-', chr(92) + '-')} \\- {plain(about)}"]
    lines, i, paragraph, needs_space = text.split("\n"), 0, [], False

    def flush():
        nonlocal paragraph, needs_space
        if paragraph:
            if needs_space:
                out.append(".PP")
            out.append(line(inline(" ".join(paragraph), pages)))
            paragraph, needs_space = [], True

    def apart(*made):
        """Not directly under a heading, and before what begins a paragraph itself, there is no space to ask for."""
        nonlocal needs_space
        out.extend([".PP"] * (needs_space and made[0] != ".TP") + list(made))
        needs_space = True

    def block(body):
        flush()
        apart(".in +4n", ".nf", *[line(code(row)) for row in body], ".fi", ".in")

    while i < len(lines):
        row = lines[i]
        fence = re.match(r"^(```+)\w*$", row)
        heading = re.match(r"^(#+) (.*)$", row)
        bullet = BULLET.match(row)
        if fence:
            end = lines.index(fence.group(1), i + 1)
            block(lines[i + 1:end])
            i = end
        elif row.startswith("<!--"):
            flush()
            while "-->" not in lines[i]:
                i += 1
        elif heading:
            flush()
            depth, words = len(heading.group(1)), inline(heading.group(2), pages)
            if depth == 1:
                out.append(".SH DESCRIPTION")
            else:
                # Without fonts of its own: a heading has one.
                out.append(f"{'.SH' if depth == 2 else '.SS'} {re.sub(r'.f[BRI]', '', words)}")
            needs_space = False
        elif row.startswith("    ") and not paragraph:
            end = i
            while end < len(lines) and (lines[end].startswith("    ") or (
                    not lines[end] and any(lines[end:]) and lines[end + 1].startswith("    "))):
                end += 1
            block([entry[4:] for entry in lines[i:end]])
            i = end - 1
        elif row.startswith("|"):
            flush()
            end = i
            while end < len(lines) and lines[end].startswith("|"):
                end += 1
            apart(*table(lines[i:end], pages))
            i = end - 1
        elif bullet:
            flush()
            words = [bullet.group(3)]
            while i + 1 < len(lines) and lines[i + 1].startswith("  ") and not BULLET.match(lines[i + 1]):
                i += 1
                words.append(lines[i].strip())
            mark = "\\(bu" if bullet.group(2) in "-*" else bullet.group(2)
            out.extend([f".IP {mark} {2 if mark[0] == chr(92) else 4}", line(inline(" ".join(words), pages))])
            needs_space = True
        elif not row.strip():
            flush()
        else:
            paragraph.append(row.strip())
        i += 1
    flush()
    out += [".SH SEE ALSO", "\\fBdevicepool\\fR(1)" + "".join(
        f",\n\\fBdevicepool\\-{code(page[:-3])}\\fR(7)" for page in pages if page != name)]
    return "\n".join(out) + "\n"


def main():
    directory, version, names = pathlib.Path(sys.argv[1]), sys.argv[2], [pathlib.Path(name).name for name in sys.argv[3:]]
    index = re.sub(r"\n +", " ", (DOCS / "README.md").read_text())
    day = re.search(r"^\.Dd (.*)$", (DOCS / "devicepool.1").read_text(), re.M).group(1)
    date = time.strftime("%Y-%m-%d", time.strptime(day, "%B %d, %Y"))
    for name in names:
        about = re.search(rf"^- \[{re.escape(name)}\]\([^)]*\): (.*)$", index, re.M)
        if not about:
            sys.exit(f"docs/README.md does not describe {name}")
        about = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", about.group(1).replace("`", ""))
        made = page_of(name, (DOCS / name).read_text(), about, version, date, names)
        (directory / f"devicepool-{name[:-3]}.7").write_text(made)


main()
