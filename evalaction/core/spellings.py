"""How one secret may be spelled: as it is, escaped once or several times for JSON, a URL, HTML or Python, in hexadecimal and in base64 at any phase.

A spelling is found in two steps. `needles` are short texts of which at least one stands in any text that holds the
secret, as long as its letters and digits are not escaped themselves; `is_escaped` tells texts in which they are. Only
where one of these is found is the dear `pattern` tried, which knows every spelling of every character.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from html.entities import codepoint2name

_ESCAPED = re.compile(r"\\u00[3-7]|\\[xX][3-7]|%(?:25){0,2}[3-7](?:[1-9]|[aA])|&(?:amp;){0,2}#")
_MARKS = ("\\u00", "\\x", "\\X", "%", "&")
"""One of them is in whatever `_ESCAPED` matches; to look for five texts is ten times faster."""
_WORD = re.compile(r"[A-Za-z0-9]+")
_CONTROLS = {"\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", "\v": "v"}
_LEVELS = 32
"""Backslashes before one character: 32 after five escapings for JSON."""


def is_escaped(text: str) -> bool:
    """Whether a letter or digit may be escaped in a text, which no usual encoder does."""
    return any(mark in text for mark in _MARKS) and _ESCAPED.search(text) is not None


def needles(secret: str, shortest: int) -> Iterator[str]:
    """Short texts, at least one of which is in any text with a spelling of the secret that `is_escaped` does not tell; empty when there is none."""
    yield _longest_word(secret)
    code = _raw(secret).hex()
    yield from (code, code.upper())
    yield from map(_longest_word, _base64(secret, shortest))


def pattern(secret: str, shortest: int) -> re.Pattern[str]:
    """Matches every spelling of the secret."""
    code = "".join(map(_either_case, _raw(secret).hex()))
    encoded = ["".join(map(_base64_sign, form)) for form in _base64(secret, shortest)]
    return re.compile("|".join([_spelled(secret), *encoded, code]))


def _raw(secret: str) -> bytes:
    return secret.encode("utf-8", "surrogatepass")


def _longest_word(text: str) -> str:
    return max(_WORD.findall(text), key=len, default="")


def _base64(secret: str, shortest: int) -> Iterator[str]:
    """The part of a longer base64 text that the secret alone decides, for each of the three phases at which it may start; what it shares with its neighbours is cut."""
    raw = _raw(secret)
    for shift in range(3):
        code = base64.b64encode(b"\0" * shift + raw).decode().rstrip("=")
        start, end = (shift * 8 + 5) // 6, len(code) - (1 if (len(raw) + shift) % 3 else 0)
        if end - start >= shortest:
            yield code[start:end]


def _base64_sign(sign: str) -> str:
    """One sign of base64, in the standard alphabet or in that of URLs, itself escaped or not."""
    other = {"+": "-", "/": "_"}.get(sign)
    return sign if other is None else f"(?:{_sign(sign)}|{other})"


def _spelled(secret: str) -> str:
    """The secret, each character in any of its spellings, a run of backslashes as one."""
    parts = re.findall(r"\\+|[^\\]", secret, re.DOTALL)
    return "".join(_backslashes(len(part)) if part[0] == "\\" else _sign(part) for part in parts)


def _backslashes(count: int) -> str:
    return f"(?:(?:{_escapes(92)}){{{count}}}|\\\\{{{count},{count * _LEVELS}}})"


def _sign(sign: str) -> str:
    """One character other than a backslash. Every branch starts with a plain character, by which `re` skips quickly over text that cannot match."""
    code = ord(sign)
    plain = [re.escape(sign)]
    if sign == "<":
        plain = ["<\u2060?"]  # reports break tags with a word joiner
    if not (sign.isalnum() and sign.isascii()):
        plain.append(f"\\\\{{1,{_LEVELS}}}{re.escape(sign)}")
    if sign in _CONTROLS:
        plain.append(f"\\\\{{1,{_LEVELS}}}{_CONTROLS[sign]}")
    if sign == " ":
        plain.append(r"\+")
    return f"(?:{'|'.join(plain)}|{_escapes(code)})"


def _escapes(code: int) -> str:
    """A code point as JSON and Python, URLs and HTML escape it."""
    sign = chr(code)
    units = sign.encode("utf-16-be", "surrogatepass")
    slashes = f"\\\\{{1,{_LEVELS}}}"
    forms = ["".join(f"{slashes}u{_hex(int.from_bytes(units[at : at + 2], 'big'), 4)}" for at in range(0, len(units), 2))]
    if code < 256:
        forms.append(f"{slashes}x{_hex(code, 2)}")
    forms.append("".join(f"%(?:25){{0,2}}{_hex(byte, 2)}" for byte in _raw(sign)))
    names = "".join(f"|{name}" for name in {codepoint2name.get(code), "apos" if sign == "'" else None} - {None})
    forms.append(f"&(?:amp;){{0,2}}(?:#0{{0,5}}{code}|#[xX]0{{0,5}}{_hex(code, 1)}{names});")
    return "|".join(forms)


def _hex(number: int, width: int) -> str:
    return "".join(map(_either_case, f"{number:0{width}x}"))


def _either_case(digit: str) -> str:
    return f"[{digit}{digit.upper()}]" if digit.isalpha() else digit
