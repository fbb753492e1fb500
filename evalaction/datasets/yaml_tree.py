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
from evalaction.errors import Fault

MAX_DEPTH = 100
MAX_ALIASED = 200_000
MAX_NODES = 5_000_000

_PREFIX = "tag:yaml.org,2002:"
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_MAX_DIGITS = 4000  # Python itself refuses to convert more than 4300

type_names = {"int": int, "float": float, "bool": bool, "null": type(None)}


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
    return (mark.line + 1) << 32 | (mark.column + 1)


Place = tuple[int, int]
"""Line and column, 1-based."""


def _unpack(place: int) -> Place:
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

    def place(self, steps: tuple[str | int, ...]) -> Place:
        """The place of the part reached by keys and indices; that of the nearest existing part when it is not there."""
        node, place = self.value, self.start
        for step in steps:
            if isinstance(node, list if isinstance(step, int) else dict) and (step in node if isinstance(step, str) else step < len(node)):
                place = self.marks[id(node)][1][step]
                node = node[step]
            else:
                break
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
    """What is wrong, how to mend it, and the parser's mark of the place."""

    def __init__(self, what: str, fix: str, mark: Any = None) -> None:
        super().__init__(what)
        self.what, self.fix, self.mark = what, fix, mark


class _Frame:
    """A container that is being filled. `key` waits for its value; `None` stands for a sequence."""

    __slots__ = ("anchor", "before", "key", "key_mark", "marks", "merged", "node", "start")

    def __init__(self, node: Any, event: Any, before: int) -> None:
        self.node, self.start, self.anchor, self.before = node, _pack(event.start_mark), event.anchor, before
        self.marks: Any = {} if isinstance(node, dict) else []
        self.key: str | None = None
        self.key_mark: Any = None
        self.merged: Any = None


class _Builder:
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
                handler(event)
        if not self.documents:
            raise _Malformed("the file is empty", "write the document")
        return self.document

    def another(self, event: Any) -> None:
        self.documents += 1
        if self.documents > 1:
            raise _Malformed("a second document starts here", "keep one document a file (drop the `---`)", event.start_mark)

    def scalar(self, event: Any) -> None:
        text, frame = event.value, self.stack[-1] if self.stack else None
        if frame is not None and frame.key is None and type(frame.node) is dict:
            self.name(frame, text, event)
            if event.anchor:
                self.anchors[event.anchor] = (text, 1)
            return
        value = resolve(text) if event.implicit[0] and not event.style and event.tag is None else self.tagged(event)
        if event.anchor:
            self.anchors[event.anchor] = (value, 1)
        self.put(value, event)

    def tagged(self, event: Any) -> Any:
        """A quoted scalar is text, and so is one tagged `!!str`; other tags must agree with the value."""
        tag = (event.tag or "!").removeprefix(_PREFIX)
        if tag in ("!", "str"):
            return event.value
        value = resolve(event.value)
        if tag not in type_names or type(value) is str or not isinstance(value, type_names[tag]):
            raise _Malformed(f"the tag `{event.tag}` is not known here or does not fit the value", "drop the tag", event.start_mark)
        return value

    def name(self, frame: _Frame, text: str, event: Any) -> None:
        """A key, kept as written. The first of two equal keys stands, so that the rest of the file is checked too."""
        frame.key, frame.key_mark = text, event.start_mark
        if text == "<<" and getattr(event, "style", None) in (None, ""):
            frame.key = "" if frame.merged is None else text
            frame.merged = _AWAITED if frame.merged is None else frame.merged
        if text in frame.marks or (frame.key == "<<" and frame.merged is not None):
            first = _unpack(frame.marks.get(text, frame.start))[0]
            line = event.start_mark.line + 1
            what = f"the key `{text}` is written twice in one mapping, on lines {first} and {line}"
            self.faults.append(self.source.fault("DUPLICATE_KEY", what, "keep one of the two", line, event.start_mark.column + 1))

    def put(self, value: Any, event: Any) -> None:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise _Malformed(f"the file has more than {MAX_NODES} parts", "move the cases into datasets of one JSON line a case", event.start_mark)
        if not self.stack:
            self.document.value, self.document.start = value, _pack(event.start_mark)
            return
        frame = self.stack[-1]
        if type(frame.node) is list:
            frame.node.append(value)
            frame.marks.append(_pack(event.start_mark))
        elif frame.merged is _AWAITED:
            frame.merged, frame.key = self.mergeable(value, event), None
        else:
            key, frame.key = frame.key, None
            if key not in frame.marks:
                frame.node[key], frame.marks[key] = value, _pack(frame.key_mark)

    def mergeable(self, value: Any, event: Any) -> list[dict[str, Any]]:
        found = value if isinstance(value, list) else [value]
        if not all(isinstance(item, dict) for item in found):
            raise _Malformed("`<<` merges mappings only", "refer to a mapping, or quote the key", event.start_mark)
        return found

    def opening(self, event: Any) -> None:
        mapping = type(event).__name__ == "MappingStartEvent"
        if self.stack and self.stack[-1].key is None and type(self.stack[-1].node) is dict:
            raise _Malformed("a list or mapping stands where a key is expected", "write a plain key; quote a text that starts with a brace, such as \"{{ vars.x }}\"", event.start_mark)
        if event.tag is not None and event.tag not in ("!", _PREFIX + ("map" if mapping else "seq")):
            raise _Malformed(f"the tag `{event.tag}` is not known here", "drop the tag", event.start_mark)
        if len(self.stack) >= MAX_DEPTH:
            raise _Malformed(f"the document is nested more than {MAX_DEPTH} deep", "flatten it", event.start_mark)
        if event.anchor:
            self.open_anchors.add(event.anchor)
        self.stack.append(_Frame({} if mapping else [], event, self.nodes + self.aliased))

    def closing(self, event: Any) -> None:
        frame = self.stack.pop()
        for source in frame.merged or ():
            self.merge(frame, source)
        self.document.marks[id(frame.node)] = (frame.start, frame.marks)
        if frame.anchor:
            self.open_anchors.discard(frame.anchor)
            self.anchors[frame.anchor] = (frame.node, self.nodes + self.aliased - frame.before + 1)
        self.put(frame.node, _Started(frame.start))

    def merge(self, frame: _Frame, source: dict[str, Any]) -> None:
        marks = self.document.marks[id(source)][1]
        for key, value in source.items():
            if key not in frame.marks:
                frame.node[key], frame.marks[key] = value, marks[key]

    def alias(self, event: Any) -> None:
        if event.anchor in self.open_anchors:
            raise _Malformed(f"the anchor `{event.anchor}` contains itself", "break the ring", event.start_mark)
        if event.anchor not in self.anchors:
            raise _Malformed(f"there is no anchor `{event.anchor}` before this line", "define it first, or quote a text that starts with `*`", event.start_mark)
        value, size = self.anchors[event.anchor]
        self.aliased += size
        if self.aliased > MAX_ALIASED:
            raise _Malformed(f"the aliases expand to more than {MAX_ALIASED} parts", "write fewer or smaller aliases", event.start_mark)
        frame = self.stack[-1]
        if frame.key is None and type(frame.node) is dict:
            if not isinstance(value, str):
                raise _Malformed("the alias of a key must be text", "write the key out", event.start_mark)
            self.name(frame, value, event)
        else:
            self.put(value, event)


_AWAITED: Any = object()


class _Mark:
    __slots__ = ("column", "line")

    def __init__(self, place: int) -> None:
        self.line, self.column = (place >> 32) - 1, (place & 0xFFFFFFFF) - 1


class _Started:
    """Stands for the start event of a container that has just been closed."""

    __slots__ = ("start_mark",)

    def __init__(self, place: int) -> None:
        self.start_mark = _Mark(place)


def read_yaml(source: Source, raw: bytes) -> tuple[Document | None, list[Fault]]:
    """The one document of a file and its faults; no document when it cannot be read at all."""
    from evalaction.errors import ConfigError

    try:
        text = decode(source, raw, "MALFORMED_YAML")
    except ConfigError as error:
        return None, list(error.faults)
    if bad := _FORBIDDEN.search(text):
        line, column = text.count("\n", 0, bad.start()) + 1, bad.start() - text.rfind("\n", 0, bad.start())
        return None, [source.fault("MALFORMED_YAML", f"the character U+{ord(bad[0]):04X} may not stand in YAML", "write it as an escape in double quotes", line, column)]
    return _parsed(source, text)


def _parsed(source: Source, text: str) -> tuple[Document | None, list[Fault]]:
    import yaml  # only a run that reads YAML pays for the import

    builder = _Builder(source)
    try:
        return builder.build(yaml.parse(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))), builder.faults
    except _Malformed as error:
        what, fix, mark = error.what, error.fix, error.mark
    except yaml.MarkedYAMLError as error:
        what, fix, mark = " ".join(filter(None, (error.context, error.problem))), "correct the YAML here", error.problem_mark or error.context_mark
    except (yaml.YAMLError, ValueError, RecursionError):
        what, fix, mark = "this is not YAML", "correct the YAML", None
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    return None, [*builder.faults, source.fault("MALFORMED_YAML", what, fix, line, column)]
