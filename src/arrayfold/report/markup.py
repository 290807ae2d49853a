"""HTML as text. All text goes through `element`, which escapes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


class Markup(str):
    """HTML that is safe as it stands."""

    __slots__ = ()


def escaped(text: str) -> Markup:
    """Text as it is, once the browser has read it."""
    return Markup(escape(text))


def element(tag: str, *content: str, **attributes: str) -> Markup:
    """An element; text in it is escaped, markup is not. `class_` stands for class.

    >>> element("p", "a < b ", element("code", "x"), class_="soft")
    '<p class="soft">a &lt; b <code>x</code></p>'
    """
    names = {name: name.rstrip("_").replace("_", "-") for name in attributes}
    inside = "".join(f' {names[name]}="{escape(value)}"' for name, value in attributes.items())
    text = "".join(part if isinstance(part, Markup) else escaped(part) for part in content)
    return Markup(f"<{tag}{inside}>{text}</{tag}>")


def join(parts: Iterable[str]) -> Markup:
    """Parts one below the other."""
    return Markup("\n".join(part if isinstance(part, Markup) else escaped(part) for part in parts))


def folded_away(title: str, *content: str, is_open: bool = False) -> Markup:
    """What is shown when its title is clicked."""
    opened = {"open": ""} if is_open else {}
    return element("details", element("summary", title), *content, **opened)


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], tight: Sequence[str] = ()) -> Markup:
    """A table; columns that are tight do not break."""

    def cells(tag: str, row: Sequence[str]) -> list[Markup]:
        kinds = ("tight" if title in tight else "" for title in titles)
        return [
            element(tag, text, class_=kind) if kind else element(tag, text)
            for text, kind in zip(row, kinds, strict=True)
        ]

    head = element("thead", element("tr", *cells("th", titles)))
    body = element("tbody", *(element("tr", *cells("td", row)) for row in rows))
    return element("div", element("table", head, body), class_="table")


def badge(text: str, kind: str) -> Markup:
    """A few words in a frame: good, bad or warn."""
    return element("span", text, class_=f"badge {kind}")
