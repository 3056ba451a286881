"""What a process says of itself: a line a request, and whatever else is worth a line.

JSON for machines, words for people; both on standard error, in whole lines. Nothing of a request is
in its line but what is listed in `Served`: no address as it was sent, no header, no body. What
others word, such as a traceback, has its secrets taken out.
"""

import asyncio
import logging
import re
import sys
from contextlib import suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

Kind: TypeAlias = Literal["json", "text"]
Level: TypeAlias = Literal["info", "warning", "error"]

TRACE: Final[ContextVar[str]] = ContextVar("trace", default="")
"""The trace id of the request that is served, so that whatever is said meanwhile has it."""

_PIPE_BYTES: Final = 4096
"""What a pipe takes as a whole, so that lines of many processes do not mix."""

_SECRET: Final = re.compile(
    r"(\bck_[a-z0-9]+_)[\w-]+"
    r"|(://[^:/@\s]*:)[^@\s]+(?=@)"
    r"|\b(?-i:eyJ)[\w-]+(?:\.[\w-]+){1,2}",
    re.IGNORECASE,
)
"""An API key behind its prefix; the password in an address; a JSON Web Token."""

_encode: Final = msgspec.json.Encoder().encode


class Served(Struct, frozen=True, omit_defaults=True, tag="request", tag_field="event"):
    """A request that was answered. `route` is the template, '' where there is none; `key` is the
    prefix of the API key, by which `croupier keys list` knows it, or `jwt/<subject>`."""

    time: datetime
    level: Level
    method: str
    route: str
    status: int
    seconds: float
    trace_id: str
    house: str = ""
    key: str = ""


class Said(Struct, frozen=True, omit_defaults=True, tag="log", tag_field="event"):
    """Something that a part of us (`logger`) has to say; `error` is a traceback."""

    time: datetime
    level: str
    message: str
    logger: str
    trace_id: str = ""
    error: str = ""


class Output:
    """Standard error. What is said within a turn of the event loop is written at its end."""

    def __init__(self) -> None:
        self.kind: Kind = "text"
        self.level: int = logging.INFO
        self.coloured = False
        self._waiting: list[bytes] = []
        self._bytes = 0

    def served(self, request: Served) -> None:
        """The line of a request; the caller has asked whether its level is told."""
        line = _encode(request) if self.kind == "json" else _in_words(request)
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self.flush)
        elif self._bytes + len(line) >= _PIPE_BYTES:
            self.flush()
        self._waiting.append(line)
        self._bytes += len(line) + 1

    def said(self, words: Said) -> None:
        """A line at once."""
        self._waiting.append(_encode(words) if self.kind == "json" else _as_text(words))
        self.flush()

    def flush(self) -> None:
        """Writes what waits. Whoever reads us may be gone: that is no reason to serve nobody."""
        waiting, self._waiting, self._bytes = self._waiting, [], 0
        if waiting:
            with suppress(OSError, ValueError):
                sys.stderr.buffer.write(b"\n".join(waiting) + b"\n")
                sys.stderr.buffer.flush()


OUTPUT: Final = Output()


class _Handler(logging.Handler):
    """Takes what is said by `logging`."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            OUTPUT.said(_said(record))
        except Exception:
            self.handleError(record)


def begin(kind: Kind | None, level: Level) -> None:
    """From now on, what is as important as the level is told; without a kind, in words where a
    person looks and as JSON where none does. Of what libraries say, nothing below a warning."""
    OUTPUT.coloured = sys.stderr.isatty()
    OUTPUT.kind = kind or ("text" if OUTPUT.coloured else "json")
    OUTPUT.level = logging.getLevelNamesMapping()[level.upper()]
    root = logging.getLogger()
    root.handlers = [_Handler()]
    root.setLevel(max(OUTPUT.level, logging.WARNING))
    for ours in ("services", "shared"):
        logging.getLogger(ours).setLevel(OUTPUT.level)


def without_secrets(text: str) -> str:
    """The text without the API keys, tokens and passwords in it."""
    return _SECRET.sub(r"\1\2…", text)


def _said(record: logging.LogRecord) -> Said:
    error = logging.Formatter().formatException(record.exc_info) if record.exc_info else ""
    return Said(
        datetime.fromtimestamp(record.created, UTC),
        record.levelname.lower(),
        without_secrets(record.getMessage()),
        record.name,
        TRACE.get(),
        without_secrets(error),
    )


def _in_words(request: Served) -> bytes:
    colour = {"info": 32, "warning": 33, "error": 31}[request.level]
    milliseconds = f"{1000 * request.seconds:.1f} ms"
    status = _coloured(str(request.status), colour)
    who = " ".join(filter(None, (request.house, request.key)))
    where = f"{request.method:4} {request.route or '(nowhere)'}"
    return f"{_clock(request.time)} {status} {where} {milliseconds} {who}".rstrip().encode()


def _as_text(words: Said) -> bytes:
    colour = {"info": 32, "warning": 33}.get(words.level, 31)
    level = _coloured(words.level.upper(), colour)
    trace = f" ({words.trace_id})" if words.trace_id else ""
    error = f"\n{words.error}" if words.error else ""
    return f"{_clock(words.time)} {level} {words.message}{trace}{error}".encode()


def _clock(time: datetime) -> str:
    return time.astimezone().strftime("%H:%M:%S.%f")[:-3]


def _coloured(text: str, colour: int) -> str:
    return f"\x1b[{colour}m{text}\x1b[0m" if OUTPUT.coloured else text
