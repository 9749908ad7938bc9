#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the site of the documentation in a temporary directory and checks it: every link, anchor and picture is there,
nothing is loaded from other hosts, the reference has every public name, and the search finds what it lists.

usage: site.py ROOT API.json PAGE.md...
"""
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
LOADED = {"img": "src", "script": "src", "link": "href", "source": "src", "iframe": "src", "video": "src", "audio": "src"}


class Reader(html.parser.HTMLParser):
    """What the checks need of one page."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded, self.wrong, self.landmarks, self.titles = [], [], [], [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attribute = dict(attributes)
        if "id" in attribute:
            self.ids.append(attribute["id"])
        if tag == "a":
            self.links.append(attribute.get("href", ""))
        if tag in LOADED and LOADED[tag] in attribute:
            self.loaded.append(attribute[LOADED[tag]])
        if tag == "img" and not attribute.get("alt"):
            self.wrong.append(f"a picture without a description: {attribute.get('src')}")
        if tag in ("main", "header", "footer"):
            self.landmarks.append(tag)
        if re.match(r"h\d$", tag):
            self.titles += tag == "h1"
        if "style" in attribute or any(name.startswith("on") for name in attribute):
            self.wrong.append(f"a style or a script in <{tag}>")


def check_site(pages):
    """Complaints of a site, given as {URL: text}, where other files have the text None."""
    readers = {url: Reader(text) for url, text in pages.items() if text is not None}
    found = []
    for url, reader in readers.items():
        found += [f"{url}: {wrong}" for wrong in reader.wrong]
        found += [f"{url}: twice the anchor {name}" for name in set(reader.ids) if reader.ids.count(name) > 1]
        if reader.titles != 1 or sorted(reader.landmarks) != ["footer", "header", "main"]:
            found.append(f"{url}: {reader.titles} titles, landmarks {reader.landmarks}")
        for link in reader.links + reader.loaded:
            if re.match(r"(https?|data):", link):
                if link in reader.loaded and link != "data:,":
                    found.append(f"{url}: loads {link}")
                continue
            path, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(url), path)) if path else url
            if target not in pages:
                found.append(f"{url}: there is no {link}")
            elif anchor and anchor not in readers[target].ids:
                found.append(f"{url}: there is no anchor {link}")
    return found


def check_names(readers, description):
    """Every public name has its place in the reference."""
    ids = {url: set(reader.ids) for url, reader in readers.items()}
    for kind in ("functions", "structs", "enums", "handles", "aliases", "callbacks", "constants"):
        for row in description[kind]:
            name = row["name"]
            url = f"reference/{row['header'].removesuffix('.h')}.html"
            places = [name] + [one["name"] for one in row.get("constants", ())]
            if "." not in name:
                places += [f"{name}.{member['name']}" for member in row.get("members", ())]
            for place in places if "." not in name else ():
                if place not in ids.get(url, ()):
                    yield f"{url}: lacks {place}"


def check_search(text, readers):
    rows = json.loads(text[text.index("["):text.rindex("]") + 1])
    names = {row[0] for row in rows}
    for name in ("Guide", "pool_msm", "POOL_ERR_TIMEOUT", "pool_exec.workspace", "DEVICEPOOL_DEVICES", "bucket"):
        if name not in names:
            yield f"the search does not find {name}"
    for name, _, url, _ in rows:
        path, _, anchor = url.partition("#")
        if path not in readers or anchor and anchor not in readers[path].ids:
            yield f"the search sends '{name}' to {url}"


def check_checks():
    """The checks notice what they are for."""
    frame = "<header></header><main><h1>x</h1>{}</main><footer></footer>"
    for wrong in ('<a href="missing.html">x</a>', '<a href="#missing">x</a>', '<img src="missing.svg" alt="x">',
                  '<img src="a.html">', '<script src="https://example.org/x.js"></script>', '<p id="x"></p><p id="x"></p>', "<p onclick='x'></p>"):
        assert check_site({"a.html": frame.format(wrong)}), wrong
    assert not check_site({"a.html": frame.format('<a href="a.html#x" id="x">x</a>')})


def main():
    root, description, pages = sys.argv[1], sys.argv[2], sys.argv[3:]
    check_checks()
    with tempfile.TemporaryDirectory() as directory:
        output = pathlib.Path(directory) / "site"
        made = subprocess.run([sys.executable, f"{root}/docs/site/make.py", "--output", str(output), "--root", root,
                               "--description", description, *pages], check=False)
        if made.returncode:
            return made.returncode
        files = [path for path in output.rglob("*") if path.is_file()]
        texts = {str(path.relative_to(output)): path.read_text(encoding="utf-8") if path.suffix == ".html" else None
                 for path in files}
        search = (output / "search-index.js").read_text(encoding="utf-8")
    found = check_site(texts)
    readers = {url: Reader(text) for url, text in texts.items() if text is not None}
    with open(description, encoding="utf-8") as file:
        found += check_names(readers, json.load(file))
    found += check_search(search, readers)
    missing = [page for page in pages if page.endswith(".md") and os.path.basename(page)[:-3] + ".html" not in
               {os.path.basename(link) for link in readers["index.html"].links} and not page.endswith("README.md")]
    found += [f"the navigation lacks {page}" for page in missing]
    for complaint in found:
        print(complaint)
    print(f"{len(readers)} pages, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
