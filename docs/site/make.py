#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the documentation as a static site: the pages, the reference of the API, and an index for the search. It needs
cmark-gfm, which reads Markdown as the usual sites do, and loads nothing from other hosts.

usage: make.py --output DIRECTORY --root SOURCE --description API.json [--version VERSION] [--depfile FILE] PAGE.md...

The groups of the navigation are the headings of docs/README.md with the pages that are listed under them. A page that is
linked but not among the arguments is made as well; a link to a header leads to its reference, one to any other file of
the source to a page that shows the file.
"""
import argparse
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as tree

sys.dont_write_bytecode = True  # the source directory stays as it is
import highlight  # noqa: E402
import reference  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ASSETS = ("style.css", "site.js")
FRONT, INDEX, HEADERS = "README.md", "docs/README.md", "include/devicepool"
SKIPPED = 77
NOT_SHOWN = {"meson.build", "check_service.sh"}  # of a directory that is linked
TOC_DEPTH = 3
LONG_ROW = 60  # characters of a table's row that a small screen does not have


class Wrong(Exception):
    """A page that cannot be made."""


def url_of_page(name):
    """docs/guide.md -> guide.html"""
    if name == FRONT:
        return "index.html"
    if name == INDEX:
        return "documentation.html"
    return name.removeprefix("docs/").removesuffix(".md") + ".html"


def anchor_of(text):
    """As the usual sites make them, and tests/docs/pages.py."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


class Page:
    def __init__(self, name, url, title=""):
        self.name, self.url, self.title = name, url, title
        self.body = ""
        self.headings = []  # (level, text, anchor)

    def toc(self):
        return [heading for heading in self.headings if 2 <= heading[0] <= TOC_DEPTH]


class Site:
    def __init__(self, root, description, version):
        self.root, self.version = root, version
        self.reference = reference.Reference(root / "include", description)
        self.pages, self.waiting = {}, []  # by name in the source
        self.pictures = set()
        self.search = []  # [title, where, URL, kind]
        self.inputs = [HERE / name for name in ASSETS] + list(self.reference.inputs)

    # ---- links ----

    def relative(self, page, url):
        path, mark, anchor = url.partition("#")
        if path == page.url and mark:
            return "#" + anchor
        return os.path.relpath(path, os.path.dirname(page.url) or ".") + mark + anchor

    def url_of_symbol(self, page):
        def look_up(name):
            url = self.reference.symbols.get(name)
            return self.relative(page, url) if url else None
        return look_up

    def target(self, page, link):
        """The link of a page of the source, as one of the site."""
        if re.match(r"[a-z]+:", link) or link.startswith("#"):
            return link
        path, mark, anchor = link.partition("#")
        name = os.path.normpath(os.path.join(os.path.dirname(page.name), path))
        source = self.root / name
        if not source.exists():
            raise Wrong(f"{page.name}: there is no '{name}' to link to")
        header = os.path.basename(name)
        if os.path.dirname(name) == HEADERS and header in self.reference.headers:
            return self.relative(page, self.reference.headers[header].url)
        if name not in self.pages:
            if name.endswith(".md"):
                self.pages[name] = Page(name, url_of_page(name))
            else:
                self.pages[name] = Page(name, f"source/{name}" + ("/index.html" if source.is_dir() else ".html"), name)
            self.waiting.append(name)
        return self.relative(page, self.pages[name].url) + mark + anchor

    # ---- Markdown ----

    def markdown(self, page):
        source = self.root / page.name
        self.inputs.append(source)
        done = subprocess.run(["cmark-gfm", "--extension", "table", "--extension", "strikethrough", str(source)],
                              capture_output=True, text=True, check=True)
        body = tree.fromstring(f"<div>{done.stdout}</div>")
        self.element(page, body, "")
        title = next((text for level, text, _ in page.headings if level == 1), None)
        if not title:
            raise Wrong(f"{page.name}: there is no title")
        page.title = title
        page.body = "".join(tree.tostring(child, encoding="unicode", method="html") for child in body)

    def element(self, page, element, inside):
        """Rewrites what is in an element; `inside` is the link or heading in which it stands."""
        for i, child in enumerate(list(element)):
            if child.tag == "pre":
                self.block(page, child)
                continue
            if re.match(r"h\d$", child.tag):
                self.heading(page, child)
            elif child.tag == "a":
                self.page_link(page, child)
            elif child.tag == "img":
                name = os.path.normpath(os.path.join(os.path.dirname(page.name), child.get("src")))
                self.pictures.add(name)
                child.set("src", self.relative(page, name.removeprefix("docs/")))
            elif child.tag == "code" and not inside:
                self.code(child, highlight.link_names(child.text or "", self.url_of_symbol(page)))
                continue
            elif child.tag == "table":
                self.table(page, child)
                element[i] = wrapped = tree.Element("div", {"class": "table", "role": "region", "tabindex": "0",
                                                            "aria-label": "Table"})
                wrapped.append(child)
                wrapped.tail, child.tail = child.tail, None
            self.element(page, child, inside or (child.tag if child.tag == "a" or re.match(r"h\d$", child.tag) else ""))

    def page_link(self, page, element):
        """Rewrites a link; where its text is the page's file, that is the title of the page or section instead."""
        link, text = element.get("href"), element.text or ""
        path, _, anchor = link.partition("#")
        element.set("href", self.target(page, link))
        if text.endswith(".md") and os.path.basename(path) == text:
            source = (self.root / os.path.dirname(page.name) / path).read_text(encoding="utf-8")
            titles = re.findall(r"^#+ (.*)$", source, re.M)
            element.text = next((title for title in titles if anchor_of(title) == anchor), titles[0]).replace("`", "")

    @staticmethod
    def code(element, text):
        """Replaces what is in an element of code."""
        inner = tree.fromstring(f"<code>{text}</code>")
        element.text = inner.text
        element[:] = list(inner)

    def block(self, page, element):
        code = element.find("code")
        language = (code.get("class") or "").removeprefix("language-")
        self.code(code, highlight.highlight("".join(code.itertext()), language, self.url_of_symbol(page)))
        element.set("tabindex", "0")

    def heading(self, page, element):
        text = "".join(element.itertext())
        anchor = first = anchor_of(text)
        number = 0
        while any(anchor == other for _, _, other in page.headings):
            number += 1
            anchor = f"{first}-{number}"
        page.headings.append((int(element.tag[1]), text, anchor))
        element.set("id", anchor)
        if element.tag != "h1":
            mark = tree.SubElement(element, "a", {"class": "anchor", "href": "#" + anchor,
                                                  "aria-label": f"Link to the section {text}"})
            mark.text = "#"

    def table(self, page, element):
        """Removes a head without texts; what a table explains is found by the search."""
        head = element.find("thead")
        labels = ["".join(cell.itertext()) for cell in head.iter("th")]
        if not "".join(labels).strip():
            element.remove(head)
        rows = element.findall("tbody/tr")
        if any(len("".join(row.itertext())) > LONG_ROW for row in rows):  # for small screens; roles, as it is no table there
            element.set("class", "stacked")
            element.set("role", "table")
            for row in rows:
                row.set("role", "row")
                for cell, label in zip(row, labels):
                    cell.set("role", "cell")
                    cell.set("data-label", label)
        section = page.headings[-1] if page.headings else (1, "", "")
        is_glossary = page.name.endswith("glossary.md")
        for row in rows:
            cell = row.find("td")
            terms = ["".join(cell.itertext())] if is_glossary else ["".join(code.itertext()) for code in cell.iter("code")]
            for term in terms:
                if len(term) > 2 and term not in self.reference.symbols:
                    self.search.append([term, f"{page.name}", f"{page.url}#{section[2]}", "term"])

    # ---- other files ----

    def shown(self, page):
        """A page that shows a file or a directory of the source."""
        source = self.root / page.name
        self.inputs.append(source)
        self.search.append([page.name, "Source", page.url, "file"])
        page.title = page.name
        if source.is_dir():
            names = sorted(one.name for one in source.iterdir() if one.is_file() and one.name not in NOT_SHOWN)
            fake = Page(page.name + "/.", page.url)
            rows = "".join(f'<li><a href="{self.target(fake, name)}">{name}</a></li>' for name in names)
            page.body = f"<h1>{html.escape(page.name)}</h1><ul>{rows}</ul>"
            return
        text = source.read_text(encoding="utf-8")
        language = source.suffix[1:] or source.name
        code = highlight.highlight(text, language, self.url_of_symbol(page))
        page.body = f'<h1>{html.escape(page.name)}</h1><pre tabindex="0"><code>{code}</code></pre>'

    # ---- the reference ----

    def reference_pages(self):
        root = Page("reference", "reference/index.html", "API reference")
        parts = ["<h1>API reference</h1><p>The public headers in their tiers: a header includes only headers of its own tier or "
                 "of those above it. <code>#include &lt;devicepool.h&gt;</code> includes all but mpi.h and mock.h.</p>"]
        for tier, headers in self.reference.tiers():
            title = tier[0].upper() + tier[1:]
            root.headings.append((2, title, anchor_of(tier)))
            rows = "".join(f'<dt><a href="{self.relative(root, header.url)}">{header.name}</a></dt>'
                           f"<dd>{html.escape(header.summary(), False)}</dd>" for header in headers)
            parts.append(f'<h2 id="{anchor_of(tier)}">{title}</h2><dl>{rows}</dl>')
            for header in headers:
                yield self.header_page(header)
        root.body = "".join(parts)
        yield root

    def header_page(self, header):
        page = Page(f"{HEADERS}/{header.name}", header.url, header.name)
        url_of = self.url_of_symbol(page)

        def link(text, is_prose=False):
            def look_up(name):  # in a sentence no word of the language, such as the handle of a type in the singular
                return url_of(name) if not is_prose or "_" in name or name.endswith(".h") else None
            return highlight.link_names(text, look_up)

        page.body = f"<h1>{header.name}</h1>" + "".join(self.reference.page(header, link))
        for item in header.items:
            page.headings.append((2, item.names()[0], item.names()[0]))
        return page

    # ---- the whole ----

    def make(self, names):
        for name in names:
            self.pages.setdefault(name, Page(name, url_of_page(name)))
        self.waiting = list(self.pages)
        while self.waiting:
            page = self.pages[self.waiting.pop(0)]
            if page.name.endswith(".md"):
                self.markdown(page)
            else:
                self.shown(page)
        for page in self.reference_pages():
            self.pages[page.name] = page
        titles = {page.name: page.title for page in self.pages.values()}
        self.search = [[term, titles.get(where, where), url, kind] for term, where, url, kind in self.search]
        for page in self.pages.values():
            if page.name.endswith(".md"):
                self.search += [[text, page.title, page.url + (f"#{anchor}" if level > 1 else ""),
                                 "page" if level == 1 else "section"] for level, text, anchor in page.headings]
        headers = {header.url: header.name for header in self.reference.headers.values()}
        self.search += [[name, headers[url.partition("#")[0]], url, kind] for name, kind, url in self.reference.entries]
        self.search.append(["API reference", "", "reference/index.html", "page"])

    def groups(self):
        """(title, pages) of the navigation."""
        title, found = "", {}
        for line in (self.root / INDEX).read_text(encoding="utf-8").replace("\n  ", " ").split("\n"):
            if re.match(r"#+ ", line):
                title = line.lstrip("# ")
            for link in re.findall(r"\]\(([\w/-]+\.md)\)", line) if line.startswith("- [") else ():
                name = "docs/" + link
                if title and name in self.pages and not any(name in pages for pages in found.values()):
                    found.setdefault(title, []).append(name)
        return [(title, [self.pages[name] for name in names]) for title, names in found.items()]

    def navigation(self, page, groups):
        def entry(other, title):
            current = ' aria-current="page"' if other is page else ""
            return f'<li><a href="{self.relative(page, other.url)}"{current}>{html.escape(title)}</a></li>'

        def group(title, entries, is_open):
            return (f"<details{' open' if is_open else ''}><summary>{html.escape(title)}</summary>"
                    f"<ul>{''.join(entries)}</ul></details>")

        parts = ["<ul>" + entry(self.pages[FRONT], "devicepool") + entry(self.pages[INDEX], "All pages") + "</ul>"]
        for title, pages in groups:
            parts.append(group(title, [entry(one, one.title) for one in pages], True))
        is_reference = page.url.startswith("reference/")
        parts.append("<ul>" + entry(self.pages["reference"], "API reference") + "</ul>")
        for tier, headers in self.reference.tiers():
            rows = [entry(self.pages[f"{HEADERS}/{header.name}"], header.name) for header in headers]
            parts.append(group(tier[0].upper() + tier[1:], rows, is_reference))
        return "".join(parts)

    def whole(self, page, groups):
        """A page's HTML."""
        up = os.path.relpath(".", os.path.dirname(page.url) or ".")
        toc = "".join(f'<li class="level{level}"><a href="#{anchor}">{html.escape(text, False)}</a></li>'
                      for level, text, anchor in page.toc())
        toc = f'<nav class="toc" aria-labelledby="toc"><p id="toc">On this page</p><ul>{toc}</ul></nav>' if toc else ""
        title = "devicepool" if page.name == FRONT else f"{page.title} – devicepool"
        source = f' · <code>{html.escape(page.name)}</code>' if "/" in page.name or page.name.endswith(".md") else ""
        return f"""<!DOCTYPE html>
<html lang="en" data-root="{up}/">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{html.escape(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{up}/style.css">
<script defer src="{up}/site.js"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header>
<a class="home" href="{up}/index.html">devicepool</a> <span class="version">{html.escape(self.version)}</span>
<form role="search" hidden>
<input type="search" id="search" placeholder="Search" aria-label="Search titles, headings and names of the API"
 autocomplete="off" spellcheck="false" role="combobox" aria-expanded="false" aria-controls="results" aria-autocomplete="list">
<ul id="results" role="listbox" aria-label="Found" hidden></ul>
</form>
</header>
<input type="checkbox" id="menu"><label for="menu">Pages</label>
<div class="columns">
<nav class="pages" aria-label="Pages">{self.navigation(page, groups)}</nav>
<main id="main" tabindex="-1">{page.body}</main>
{toc}
</div>
<footer><p>devicepool {html.escape(self.version)}{source} · Apache-2.0</p></footer>
</body>
</html>
"""

    def write(self, output):
        shutil.rmtree(output, ignore_errors=True)
        output.mkdir(parents=True)
        groups = self.groups()
        for page in self.pages.values():
            path = output / page.url
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.whole(page, groups), encoding="utf-8")
        for name in self.pictures:
            self.inputs.append(self.root / name)
            path = output / name.removeprefix("docs/")
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.root / name, path)
        for name in ASSETS:
            shutil.copyfile(HERE / name, output / name)
        rows = ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in self.search)
        (output / "search-index.js").write_text(f"window.searchIndex = [\n{rows}\n];\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description="Makes the documentation as a static site.")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--description", type=pathlib.Path, required=True)
    parser.add_argument("--version", default="")
    parser.add_argument("--depfile", type=pathlib.Path)
    parser.add_argument("pages", nargs="+")
    options = parser.parse_args()
    if not shutil.which("cmark-gfm"):
        print("skipped: cmark-gfm, which reads the pages, is not installed (Debian: apt-get install cmark-gfm)")
        return SKIPPED
    root = options.root.resolve()
    names = [os.path.relpath(os.path.abspath(name), root) for name in options.pages]
    site = Site(root, options.description, options.version)
    try:
        site.make([FRONT, INDEX] + [name for name in names if name.endswith(".md")])
    except Wrong as wrong:
        print(f"make.py: {wrong}", file=sys.stderr)
        return 1
    site.write(options.output)
    if options.depfile:
        inputs = " ".join(str(path).replace(" ", "\\ ") for path in site.inputs)
        options.depfile.write_text(f"{options.output}: {inputs}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
