"""YAML to plain values with positions: text stays text, and everything that could mislead is refused.

Built from the parser's events rather than with a loader: a loader converts scalars and forgets where
things stood. Plain scalars follow the core schema of YAML 1.2, narrowed: only `true` and `false` are
booleans, and numbers keep their spelling.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from typing import Any

from evalaction.core.scalars import SpelledFloat, SpelledInt
from evalaction.datasets.source import Source, decode
from evalaction.errors import ConfigError, Fault

MAX_DEPTH = 100
MAX_ALIASED = 200_000
MAX_NODES = 5_000_000

_PREFIX = "tag:yaml.org,2002:"
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HALF = re.compile("[\ud800-\udfff]")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_MAX_DIGITS = 4000  # Python itself refuses to convert more than 4300

_TYPES = {"int": int, "float": float, "bool": bool, "null": type(None)}


def resolve(text: str) -> Any:
    """The value of a plain scalar."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in "0123456789+-." and len(text) <= _MAX_DIGITS:
        if _INT.fullmatch(text):
            return SpelledInt(int(text, {"0o": 8, "0x": 16}.get(text[:2], 10)), text)
        if _FLOAT.fullmatch(text) and abs(number := float(text)) != float("inf"):
            return SpelledFloat(number, text)
    return text


def _pack(mark: Any) -> int:
    """A parser's mark (counted from 0) as one small number: line and column, 1-based."""
    line, column = int(mark.line) + 1, int(mark.column) + 1
    return line << 32 | column


def _unpack(place: int) -> tuple[int, int]:
    return place >> 32, place & 0xFFFFFFFF


@dataclasses.dataclass(slots=True)
class Document:
    """A value and the places of its parts.

    `marks` holds for each container, by identity, its own place and that of each key or item; `value`
    keeps the containers alive.
    """

    value: Any
    marks: dict[int, tuple[int, Any]]
    start: int = 1 << 32 | 1

    def place(self, steps: tuple[str | int, ...]) -> tuple[int, int]:
        """The place of the part reached by keys and indices; that of the nearest existing part when it is not there."""
        node, place = self.value, self.start
        for step in steps:
            if not (isinstance(node, dict) and step in node) and not (isinstance(node, list) and isinstance(step, int) and step < len(node)):
                break
            parts: Any = node
            place, node = self.marks[id(node)][1][step], parts[step]
        return _unpack(place)

    def rewrite(self, change: Callable[[str, tuple[str | int, ...]], str]) -> None:
        """Replace every text by what `change` (text, steps) makes of it; places stay."""
        self.value = self._rewritten(self.value, (), change)

    def _rewritten(self, node: Any, steps: tuple[str | int, ...], change: Callable[[str, tuple[str | int, ...]], str]) -> Any:
        if isinstance(node, str):
            return change(node, steps)
        if not isinstance(node, dict | list):
            return node
        new: Any
        if isinstance(node, dict):
            new = {key: self._rewritten(item, (*steps, key), change) for key, item in node.items()}
        else:
            new = [self._rewritten(item, (*steps, index), change) for index, item in enumerate(node)]
        self.marks[id(new)] = self.marks[id(node)]
        return new


class _Malformed(Exception):
    """What is wrong, how to mend it, and where."""

    def __init__(self, what: str, fix: str, place: int = 1 << 32 | 1) -> None:
        super().__init__(what)
        self.what, self.fix, self.place = what, fix, place


class _Frame:
    """A container that is being filled. `key` is the key that waits for its value."""

    __slots__ = ("anchor", "before", "key", "key_place", "marks", "merge_place", "merged", "merging", "node", "place")

    def __init__(self, node: Any, place: int, anchor: str | None, before: int) -> None:
        self.node, self.place, self.anchor, self.before = node, place, anchor, before
        self.marks: Any = {} if isinstance(node, dict) else []
        self.key: str | None = None
        self.key_place = self.merge_place = 0
        self.merging = False
        self.merged: list[dict[str, Any]] = []

    @property
    def wants_key(self) -> bool:
        return self.key is None and type(self.node) is dict


class _Builder:
    """Fills a Document from parser events. Refusals end it; a key written twice is noted, and the first one stands."""

    def __init__(self, source: Source) -> None:
        self.source, self.faults = source, list[Fault]()
        self.document = Document(None, {})
        self.stack: list[_Frame] = []
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.open_anchors: set[str] = set()
        self.nodes = self.aliased = self.documents = 0

    def build(self, events: Iterator[Any]) -> Document:
        handlers = {
            "ScalarEvent": self.scalar, "MappingStartEvent": self.opening, "SequenceStartEvent": self.opening, "MappingEndEvent": self.closing,
            "SequenceEndEvent": self.closing, "AliasEvent": self.alias, "DocumentStartEvent": self.another,
        }  # fmt: skip
        for event in events:
            handler = handlers.get(type(event).__name__)
            if handler is not None:
                handler(event, _pack(event.start_mark))
        if not self.documents:
            raise _Malformed("the file is empty", "write the document")
        return self.document

    def another(self, _event: Any, place: int) -> None:
        self.documents += 1
        if self.documents > 1:
            raise _Malformed("a second document starts here", "keep one document a file (drop the `---`)", place)

    def scalar(self, event: Any, place: int) -> None:
        plain = event.implicit[0] and not event.style and event.tag is None
        if self.stack and self.stack[-1].wants_key:
            value = event.value
            self.name(value, place, merging=plain and value == "<<")
        else:
            value = resolve(event.value) if plain else self.tagged(event, place)
            self.put(value, place)
        if event.anchor:
            self.anchors[event.anchor] = (value, 1)

    def tagged(self, event: Any, place: int) -> Any:
        """A quoted scalar is text, and so is one tagged `!!str`; other tags must agree with the value."""
        tag = (event.tag or "!").removeprefix(_PREFIX)
        if tag in ("!", "str"):
            if _HALF.search(event.value):  # the parser without C lets it through
                raise _Malformed("an escape such as \\ud800 is half a character", "write the character itself", place)
            return event.value
        value = resolve(event.value)
        if tag not in _TYPES or type(value) is str or not isinstance(value, _TYPES[tag]):
            raise _Malformed(f"the tag `{event.tag}` is not known here or does not fit the value", "drop the tag", place)
        return value

    def name(self, text: str, place: int, *, merging: bool = False) -> None:
        """Take a key, as written."""
        frame = self.stack[-1]
        first = frame.merge_place if merging else frame.marks.get(text)
        frame.key, frame.key_place, frame.merging = text, place, merging
        if merging and not first:
            frame.merge_place = place
        if first:
            line, column = _unpack(place)
            what = f"the key `{text}` is written twice in one mapping, on lines {_unpack(first)[0]} and {line}"
            self.faults.append(self.source.fault("DUPLICATE_KEY", what, "keep one of the two", line, column))

    def put(self, value: Any, place: int) -> None:
        """Take a value: for the document, the list or the key that waits for one."""
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise _Malformed(f"the file has more than {MAX_NODES} parts", "move the cases into datasets of one JSON line a case", place)
        if not self.stack:
            self.document.value, self.document.start = value, place
            return
        frame = self.stack[-1]
        if frame.key is None:
            frame.node.append(value)
            frame.marks.append(place)
            return
        if frame.merging:
            frame.merged += self.mergeable(value, place)
        elif frame.key not in frame.marks:
            frame.node[frame.key], frame.marks[frame.key] = value, frame.key_place
        frame.key = None

    def mergeable(self, value: Any, place: int) -> list[dict[str, Any]]:
        found = value if isinstance(value, list) else [value]
        if not all(isinstance(item, dict) for item in found):
            raise _Malformed("`<<` merges mappings only", "refer to a mapping, or quote the key", place)
        return found

    def opening(self, event: Any, place: int) -> None:
        kind, tag = (dict, "map") if type(event).__name__ == "MappingStartEvent" else (list, "seq")
        if self.stack and self.stack[-1].wants_key:
            raise _Malformed("a list or mapping stands where a key is expected", 'write a plain key; quote a text that starts with a brace, such as "{{ vars.x }}"', place)
        if event.tag not in (None, "!", _PREFIX + tag):
            raise _Malformed(f"the tag `{event.tag}` is not known here", "drop the tag", place)
        if len(self.stack) >= MAX_DEPTH:
            raise _Malformed(f"the document is nested more than {MAX_DEPTH} deep", "flatten it", place)
        if event.anchor:
            self.open_anchors.add(event.anchor)
        self.stack.append(_Frame(kind(), place, event.anchor, self.nodes + self.aliased))

    def closing(self, _event: Any, _place: int) -> None:
        frame = self.stack.pop()
        for merged in frame.merged:
            marks = self.document.marks[id(merged)][1]
            for key in [key for key in merged if key not in frame.marks]:
                frame.node[key], frame.marks[key] = merged[key], marks[key]
        self.document.marks[id(frame.node)] = (frame.place, frame.marks)
        if frame.anchor:
            self.open_anchors.discard(frame.anchor)
            self.anchors[frame.anchor] = (frame.node, self.nodes + self.aliased - frame.before + 1)
        self.put(frame.node, frame.place)

    def alias(self, event: Any, place: int) -> None:
        if event.anchor in self.open_anchors:
            raise _Malformed(f"the anchor `{event.anchor}` contains itself", "break the ring", place)
        if event.anchor not in self.anchors:
            raise _Malformed(f"there is no anchor `{event.anchor}` before this line", "define it first, or quote a text that starts with `*`", place)
        value, size = self.anchors[event.anchor]
        self.aliased += size
        if self.aliased > MAX_ALIASED:
            raise _Malformed(f"the aliases expand to more than {MAX_ALIASED} parts", "write fewer or smaller aliases", place)
        if not self.stack[-1].wants_key:
            self.put(value, place)
        elif isinstance(value, str):
            self.name(value, place)
        else:
            raise _Malformed("the alias of a key must be text", "write the key out", place)


def read_yaml(source: Source, raw: bytes) -> tuple[Document | None, list[Fault]]:
    """The one document of a file and its faults (MALFORMED_YAML, DUPLICATE_KEY); no document when it cannot be read at all."""
    try:
        text = decode(source, raw, "MALFORMED_YAML")
    except ConfigError as error:
        return None, list(error.faults)
    if bad := _FORBIDDEN.search(text):
        line, column = text.count("\n", 0, bad.start()) + 1, bad.start() - text.rfind("\n", 0, bad.start())
        return None, [source.fault("MALFORMED_YAML", f"the character U+{ord(bad[0]):04X} may not stand in YAML", "write it as an escape in double quotes", line, column)]
    return _parsed(source, text)


def _parsed(source: Source, text: str) -> tuple[Document | None, list[Fault]]:
    import yaml  # noqa: PLC0415 - only a run that reads YAML pays for the import

    builder = _Builder(source)
    try:
        return builder.build(yaml.parse(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))), builder.faults
    except _Malformed as error:
        what, fix, place = error.what, error.fix, error.place
    except yaml.MarkedYAMLError as error:
        what, fix = " ".join(filter(None, (error.context, error.problem))), "correct the YAML here"
        mark = error.problem_mark or error.context_mark
        place = _pack(mark) if mark else 1 << 32 | 1
    except (yaml.YAMLError, ValueError):
        what, fix, place = "this is not YAML", "correct the YAML", 1 << 32 | 1
    line, column = _unpack(place)
    return None, [*builder.faults, source.fault("MALFORMED_YAML", what, fix, line, column)]
