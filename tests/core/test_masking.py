"""Secrets are masked in every spelling, and what was strict JSON stays strict JSON."""

from __future__ import annotations

import base64
import html
import json
import re
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.core.masking import MASK, Masker

SECRET = 's3cr3t/Va+lue"x\\y&z=é\n<b>'


def escaped(text: str) -> str:
    """A text as it stands inside a JSON text."""
    return json.dumps(text)[1:-1]


SPELLINGS = {
    "plain": SECRET,
    "json": escaped(SECRET),
    "json in utf-8": json.dumps(SECRET, ensure_ascii=False)[1:-1],
    "json twice": escaped(escaped(SECRET)),
    "json thrice": escaped(escaped(escaped(SECRET))),
    "json with escaped slashes": escaped(SECRET).replace("/", "\\/"),
    "json, all escaped": "".join(f"\\u{ord(char):04x}" for char in SECRET),
    "json, all escaped twice": escaped("".join(f"\\u{ord(char):04X}" for char in SECRET)),
    "json, safe in html": escaped(SECRET).replace("<", "\\u003c").replace("&", "\\u0026").replace("/", "\\u002F"),
    "url": quote(SECRET, safe=""),
    "url with slashes": quote(SECRET),
    "form": quote_plus(SECRET),
    "url twice": quote(quote(SECRET)),
    "url, codes in lower case": re.sub("%..", lambda found: found[0].lower(), quote(SECRET, safe="")),
    "url, all escaped": "".join(f"%{byte:02x}" for byte in SECRET.encode()),
    "html": html.escape(SECRET),
    "html twice": html.escape(html.escape(SECRET)),
    "html, all escaped": "".join(f"&#x{ord(char):X};" for char in SECRET),
    "html in json": escaped(html.escape(SECRET)),
    "python": repr(SECRET)[1:-1],
    "hexadecimal": SECRET.encode().hex(),
    "hexadecimal in capitals": SECRET.encode().hex().upper(),
}
FORMS = (str, lambda text: text.replace("/", "\\/"), lambda text: quote(text, safe=""))
BASE64 = [(encode, shift, form) for encode in (base64.b64encode, base64.urlsafe_b64encode) for shift in range(4) for form in FORMS]
SIGNS = 'abn"\\/u0e9 \n'


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_text__a_secret_in_any_spelling__is_replaced_whole(spelling):
    """Nothing of the secret is left, and nothing beside it is lost."""
    assert Masker([SECRET]).text(f"before {spelling} after") == f"before {MASK} after"


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("as_it_is", [True, False])
def test_finds__a_spelling_inside_json_and_json_in_json__is_found(spelling, times, as_it_is):
    """What decides whether masking runs sees the same secret behind one escaping and behind two."""
    text = f"before {spelling} after"
    for _ in range(times):
        text = json.dumps({"output": text}, ensure_ascii=as_it_is)
    masker = Masker([SECRET])

    assert masker.finds(text.encode())
    assert masker.text(json.loads(text)["output"]).count(MASK) == 1


@pytest.mark.parametrize(("encode", "shift", "form"), BASE64)
def test_text__a_secret_in_base64__is_replaced_at_any_phase(encode, shift, form):
    """Of the encoded secret at most the characters that it shares with its neighbours stay."""
    code = form(encode(b"x" * shift + SECRET.encode() + b"tail").decode())
    masker = Masker([SECRET])
    masked = masker.text(code)

    assert masker.finds(json.dumps(json.dumps(code)).encode())
    before, after = masked.split(MASK)
    assert len(before) <= 6
    assert len(after) <= 14


@given(st.text(SIGNS, min_size=6, max_size=10), st.text(SIGNS + "\x01", max_size=8), st.text(SIGNS, max_size=8), st.booleans())
def test_text__strict_json_with_a_secret__stays_strict_json(secret, before, after, ascii_only):
    """A document is masked as text without tearing an escape apart."""
    masker = Masker([secret])
    document = json.dumps({"a": before + secret + after, "b": 1}, ensure_ascii=ascii_only)
    masked = json.loads(masker.text(document))

    assert masked["b"] == 1
    if len(secret.strip()) >= 6:
        assert masker.finds(document.encode())
        assert MASK in masked["a"]


def test_text__a_secret_that_begins_another__leaves_no_rest_of_the_longer():
    """The longer secret goes first."""
    assert Masker(["secret-1", "secret-123456"]).text("secret-123456 secret-1") == f"{MASK} {MASK}"


@pytest.mark.parametrize("text", ["", "secret", "50 % of s&cret, C:\\users\\xavier", '{"a": "\\u001b[0m"}'])
def test_text__without_the_secret__is_the_same(text):
    """Text that merely looks escaped is left alone."""
    masker = Masker([SECRET, "hunter22"])

    assert masker.text(text) == text
    assert not masker.finds(text.encode())
    assert not Masker().finds(b"anything")


@pytest.mark.parametrize(("before", "after"), [('expected "yes", got "', '…"'), ("stderr:\n…", " was refused")])
def test_masker__finds_the_part_of_a_secret_beside_a_cut(before, after):
    """A detail that quotes an answer up to a limit does not show the first part of a key, nor the end of a log the rest of one."""
    secret = "sk-live-0123456789abcdefghij"
    masker, begins = Masker([secret]), after.startswith("…")

    for shown in range(6, len(secret)):
        text = f"{before}{secret[:shown] if begins else secret[-shown:]}{after}"
        assert masker.text(text) == f"{before}***{after}"
        assert masker.finds(text.encode())
    short = "sk-li…" if begins else "…fghij"
    assert masker.text(short) == short


def test_serialised__numbers_keys_and_own_words_stay():
    """A secret that is digits, a key or a word of ours takes nothing from a document but texts that hold it."""
    document = '{"verdict": "passed", "p_value": 0.000000123, "passed": [{"message": "it was passed, 000000"}, "a\\"000000"]}'
    masked = Masker(["000000", "passed"]).serialised(document, keep=frozenset({"verdict"}))
    assert json.loads(masked) == {"verdict": "passed", "p_value": 0.000000123, "passed": [{"message": "it was ***, ***"}, 'a"***']}
