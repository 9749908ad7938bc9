# SPDX-License-Identifier: Apache-2.0
"""Colours of code: comments, strings and keywords as spans, and links of the names that the reference has."""
import html
import re

STRING = r'"(?:[^"\\\n]|\\.)*"'
CHARACTER = r"'(?:[^'\\\n]|\\.)+'"
C_COMMENT = r"/\*.*?\*/|//[^\n]*"
HASH_COMMENT = r"(?<![\w$&{])#[^\n]*"
WORDS = {
    "c": "auto break case const continue default do double else enum extern float for goto if inline int long register "
         "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while char "
         "class namespace using template typename new delete public private constexpr nullptr true false operator "
         "__global__ __device__ __shared__ __launch_bounds__",
    "go": "break case chan const continue default defer else fallthrough for func go goto if import interface map "
          "package range return select struct switch type var nil true false",
    "rust": "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut "
            "pub ref return self Self static struct super trait true false type unsafe use where while",
    "javascript": "async await break case catch class const continue default delete do else export extends finally for "
                  "function if import in instanceof let new null of return static super switch this throw true false try "
                  "typeof undefined var void while yield",
    "python": "and as assert async await break class continue def del elif else except False finally for from global if "
              "import in is lambda None nonlocal not or pass raise return True try while with yield",
    "sh": "case do done elif else esac export fi for function if in then until while",
}
SAME = {"cpp": "c", "cuda": "c", "h": "c", "cu": "c", "cuh": "c", "console": "sh", "py": "python", "js": "javascript",
        "rs": "rust", "Makefile": "sh", "yaml": "sh", "hpp": "c"}
NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+)?")


def pattern_of(language):
    comment = HASH_COMMENT if language in ("python", "sh") else C_COMMENT
    strings = ['"""' + r".*?" + '"""', STRING] + ([] if language == "rust" else [CHARACTER])
    if language in ("go", "javascript"):
        strings.append(r"`[^`]*`")
    return re.compile(f"(?P<comment>{comment})|(?P<string>{'|'.join(strings)})|(?P<directive>^[ ]*\\#[ ]*\\w+)"
                      r"|(?P<name>[A-Za-z_]\w*(?:\.\w+)?)", re.S | re.M)


PATTERNS = {language: pattern_of(language) for language in WORDS}


def link_names(text, url_of):
    """HTML of code: names with a URL are links."""
    parts, end = [], 0
    for found in NAME.finditer(text):
        link = name_link(found[0], url_of)
        if link:
            parts += [html.escape(text[end:found.start()], False), link]
            end = found.end()
    return "".join(parts) + html.escape(text[end:], False)


def name_link(name, url_of):
    """A link for a name, or for what is before its dot; None without one."""
    url = url_of(name)
    if url:
        return f'<a href="{url}">{name}</a>'
    first, dot, rest = name.partition(".")
    url = url_of(first) if dot else None
    return f'<a href="{url}">{first}</a>.{rest}' if url else None


def highlight(text, language, url_of):
    """HTML of a block of code."""
    language = SAME.get(language, language)
    if language not in PATTERNS:
        return html.escape(text, False)
    words = set(WORDS[language].split())
    parts, end = [], 0
    for found in PATTERNS[language].finditer(text):
        kind, piece = found.lastgroup, found[0]
        if kind == "name":
            if piece in words:
                done = f'<span class="keyword">{piece}</span>'
            else:
                done = name_link(piece, url_of)
        elif kind == "directive":
            done = f'<span class="keyword">{html.escape(piece, False)}</span>'
        else:
            done = f'<span class="{kind}">{html.escape(piece, False)}</span>'
        if done:
            parts += [html.escape(text[end:found.start()], False), done]
            end = found.end()
    return "".join(parts) + html.escape(text[end:], False)
