# SPDX-License-Identifier: Apache-2.0
"""Reads Markdown pages: blocks of code with what the comment before them says, commands, links, names.

A block in C or C++ is a whole program when it has a main. Every other one is put into a wrapper,
which an HTML comment on the line before the block names:

    <!-- in NAME -->                 the lines stand where wrappers/NAME.c has a line BLOCK
    <!-- in job -->                  the lines stand where docs/examples/frame.c says "the block"
    <!-- in NAME, compiled only -->  the same, but nothing is run
    <!-- above -->                   functions and variables that the page's next block uses
    <!-- printed -->                 before a block of text: what the program before it prints
    <!-- not run: REASON -->         before a block of commands

#include lines go to the top of the program, wherever they stand in the block.
"""
import re

COMPILED = {"c": ".c", "cpp": ".cpp"}
SHELL = {"sh", "console"}
ELSEWHERE = {"python", "rust", "go", "javascript"}  # run by tests/bindings
TEXT = {"", "text", "json", "yaml", "cuda", "ptx", "prometheus"}
COMMENT = re.compile(r"^<!-- (.*) -->$")


class Broken(Exception):
    """A page that says something that is not so."""


class Block:
    def __init__(self, page, line, language, note):
        self.page, self.line, self.language, self.note = page, line, language, note
        self.lines = []
        self.above = []  # blocks of functions that belong before this one
        self.printed = None

    def __str__(self):
        return f"{self.page}:{self.line}"

    def text(self):
        return "\n".join(self.lines)


def read_blocks(page, text):
    """Fenced blocks, and indented ones as language "indented"."""
    blocks, block, fence, previous, last_text = [], None, None, "", ""
    for number, line in enumerate(text.split("\n"), 1):
        opening = re.match(r"^(```+)(\w*)$", line)
        if fence:
            if line == fence:
                fence = None
            else:
                block.lines.append(line)
        elif opening:
            note = COMMENT.match(previous)
            fence = opening.group(1)
            block = Block(page, number, opening.group(2), note.group(1) if note else "")
            blocks.append(block)
        elif line.startswith("    ") and not re.match(r"^\s*([-*]|\d+\.) ", last_text):
            if not (blocks and block is blocks[-1] and block.language == "indented" and previous):
                note = COMMENT.match(last_text)
                block = Block(page, number - 1, "indented", note.group(1) if note else "")
                blocks.append(block)
            block.lines.append(line[4:])
        else:
            block = None
        previous = line
        if line and not line.startswith("    "):
            last_text = line
    if fence:
        raise Broken(f"{page}: a block is not closed")
    return blocks


def programs(blocks):
    """The blocks to compile, each with those that belong above it."""
    above, found = [], []
    for block in blocks:
        if block.language not in COMPILED:
            if block.language not in SHELL | TEXT | ELSEWHERE | {"indented"}:
                raise Broken(f"{block}: nothing is known of the language '{block.language}'")
            if block.note == "printed":
                found[-1].printed = block.text()
            continue
        if block.note == "above":
            above.append(block)
            continue
        block.above, above = above, []
        found.append(block)
    if above:
        raise Broken(f"{above[0]}: no block comes after it")
    return found


def _split(block):
    """#include lines, and the rest with the page's line numbers kept for the compiler."""
    includes = [line for line in block.lines if line.startswith("#include")]
    rest = [f'#line {block.line + 1} "{block.page}"']
    rest += ["" if line.startswith("#include") else line for line in block.lines]
    return includes, rest


def program_text(block, read_wrapper):
    """(text of the whole program, whether it is run)"""
    if re.search(r"^int main\(", block.text(), re.M):
        return block.text() + "\n", True
    note = re.match(r"in (\w+)(, compiled only)?$", block.note)
    if not note:
        raise Broken(f"{block}: neither a main nor a comment that names a wrapper before it")
    wrapper = read_wrapper(note.group(1) + COMPILED[block.language]).split("\n")
    wrapper = ["BLOCK" if line.strip() in ("BLOCK", "/* the block */") else line for line in wrapper]
    if wrapper.count("BLOCK") != 1:
        raise Broken(f"wrapper {note.group(1)} needs one line BLOCK")
    last_include = max(i for i, line in enumerate(wrapper) if line.startswith("#include")) + 1
    includes, functions = [], []
    for part in block.above:
        more, rest = _split(part)
        includes += more
        functions += rest
    more, body = _split(block)
    head, tail = wrapper[:last_include], wrapper[last_include:]
    place = tail.index("BLOCK")
    return "\n".join(includes + more + head + functions + ['#line 1 "wrapper"'] + tail[:place] + body +
                     ['#line 1 "wrapper, after the block"'] + tail[place + 1:]) + "\n", not note.group(2)


def commands(blocks):
    """(block, command line) of every line of shell; continued lines joined, comments kept."""
    for block in blocks:
        if block.language not in SHELL | {"indented"} or block.note.startswith("not run: "):
            continue
        text = block.text().replace("\\\n", " ")
        for line in text.split("\n"):
            if block.language == "console":
                if not line.startswith("$ "):
                    continue
                line = line[2:]
            line = line.strip()
            if line and not line.startswith("#"):
                yield block, line


def prose(text):
    """The page without its fenced blocks."""
    return re.sub(r"^(```+)\w*$.*?^\1$", "", text, flags=re.M | re.S)


def links(text):
    return re.findall(r"\]\(([^)\s]+)\)", prose(text))


def anchors(text):
    """The anchors that a page's headings get on the usual sites."""
    heads = re.findall(r"^#+ (.*)$", prose(text), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
