#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens every page of the site in headless Chromium, on a desktop and on a telephone, light and dark: nothing complains,
nothing is wider than the screen, texts have contrast, nothing is requested from other hosts; then the search, the menu
and the buttons. Skipped where Chromium is not installed.

usage: site_browser.py SITE [PICTURES]     SITE is the directory of the site, PICTURES a directory for pictures of all pages
"""
import pathlib
import sys

sys.dont_write_bytecode = True  # the source directory stays as it is
import browser  # noqa: E402

SKIPPED = 77
LOOKS = {"desktop": (1440, 900, False), "desktop-dark": (1440, 900, True), "mobile": (390, 844, False),
         "mobile-dark": (390, 844, True)}

# Complaints of a page: text with a contrast below 4.5 : 1 (WCAG 2, AA), headings that leave out a level, controls without
# a name, contents wider than the screen.
CHECK = r"""(() => {
  const found = new Set();
  const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
  const channel = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const background = (element) => {
    for (; element; element = element.parentElement) {
      const [r, g, b, alpha = 1] = numbers(getComputedStyle(element).backgroundColor);
      if (alpha > 0) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (seen.has(element) || !walker.currentNode.data.trim() || !element.checkVisibility({ opacityProperty: true })) continue;
    seen.add(element);
    const a = luminance(numbers(getComputedStyle(element).color)), b = luminance(background(element));
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) found.add(`contrast ${contrast.toFixed(2)} of ${element.tagName}.${element.className}: ${element.textContent.slice(0, 30)}`);
  }
  let level = 0;
  for (const heading of document.querySelectorAll('h1, h2, h3, h4')) {
    const own = Number(heading.tagName[1]);
    if (own > level + 1) found.add(`${heading.tagName} after H${level}: ${heading.textContent}`);
    level = own;
  }
  for (const control of document.querySelectorAll('a, button, input, summary'))
    if (!(control.textContent.trim() || control.getAttribute('aria-label') || (control.labels && control.labels.length)))
      found.add(`a ${control.tagName} without a name: ${control.outerHTML.slice(0, 60)}`);
  for (const image of document.images)
    if (!image.complete || !image.naturalWidth) found.add(`no picture ${image.src}`);
  if (document.documentElement.scrollWidth > innerWidth) {
    found.add(`${document.documentElement.scrollWidth} of ${innerWidth} pixels wide`);
    for (const element of document.querySelectorAll('main *'))
      if (element.getBoundingClientRect().right > innerWidth + 1 && !element.closest('.table, pre'))
        found.add(`too wide: ${element.tagName} ${element.textContent.slice(0, 40)}`);
  }
  return [...found].slice(0, 10);
})()"""


def check_pages(chromium, site, pictures):
    names = sorted(str(path.relative_to(site)) for path in site.rglob("*.html"))
    for look, (width, height, is_dark) in LOOKS.items():
        chromium.look(width, height, is_dark)
        for name in names:
            chromium.open(f"file://{site}/{name}")
            complaints = chromium.complaints() + chromium.evaluate(CHECK)
            complaints += [f"requests {url}" for url in chromium.requests() if not url.startswith((f"file://{site}/", "data:"))]
            for complaint in complaints:
                yield f"{name}, {look}: {complaint}"
            if pictures:
                chromium.picture(pictures / (name.replace("/", "_") + f".{look}.png"))


def search(chromium, words):
    chromium.evaluate("document.getElementById('search').focus()")
    chromium.evaluate("new Promise(done => { const wait = () => window.searchIndex ? done() : setTimeout(wait, 10); wait(); })")
    chromium.evaluate(f"(() => {{ const i = document.getElementById('search'); i.value = {words!r}; "
                      "i.dispatchEvent(new Event('input')); })()")
    return chromium.evaluate("[...document.querySelectorAll('#results a')].map(a => a.firstChild.data)")


def check_use(chromium, site):
    """What a reader does with the pages."""
    chromium.look(1440, 900)
    chromium.open(f"file://{site}/reference/msm.html")
    for words, expected in (("pool_msm", "pool_msm"), ("msm workspace", "pool_msm_workspace"), ("glossary", "Glossary"),
                            ("err_timeout", "POOL_ERR_TIMEOUT"), ("migration", "Coming from cudarc, oxicuda, ICICLE, sppark, bellperson or the driver API")):
        rows = search(chromium, words)
        if not rows or expected and rows[0] != expected:
            yield f"the search for '{words}' finds {rows[:3]}, not {expected} first"
    if search(chromium, "zzzzqqqq"):
        yield "the search finds what is not there"
    if chromium.evaluate("document.querySelector('#results .none').textContent") != "Nothing is found":
        yield "the search does not say that nothing is found"
    search(chromium, "<img src=x onerror=alert(1)>")
    search(chromium, "pool_acquire")
    chromium.key("Enter")
    chromium.evaluate("new Promise(done => setTimeout(done, 300))")
    place = chromium.evaluate("location.pathname.split('/').pop() + location.hash")
    if place != "lease.html#pool_acquire":
        yield f"Enter in the search leads to {place}"
    chromium.open(f"file://{site}/guide.html")
    chromium.evaluate("document.body.focus()")
    chromium.key("/", "/")
    if chromium.evaluate("document.activeElement.id") != "search":
        yield "the key / does not lead to the search"
    copied = chromium.evaluate("""(async () => {
        const button = document.querySelector('.code button'); button.click();
        await new Promise(done => setTimeout(done, 200)); return button.textContent; })()""")
    if copied not in ("Copied", "Selected"):
        yield f"the button of a block says '{copied}'"
    chromium.look(390, 844)
    chromium.open(f"file://{site}/guide.html")
    visible = "getComputedStyle(document.querySelector('.pages')).display"
    before = chromium.evaluate(visible)
    chromium.evaluate("document.querySelector('label[for=menu]').click()")
    if (before, chromium.evaluate(visible)) != ("none", "block"):
        yield "the menu of pages does not open on a telephone"
    yield from chromium.complaints()


def main():
    program = browser.find_chromium()
    if not program:
        print("skipped: Chromium is not installed")
        return SKIPPED
    site = pathlib.Path(sys.argv[1]).resolve()
    pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    with browser.Browser(program) as chromium:
        found = list(check_pages(chromium, site, pictures)) + list(check_use(chromium, site))
    for complaint in found:
        print(complaint)
    print(f"{len(list(site.rglob('*.html')))} pages in {len(LOOKS)} looks, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
