"""Between the JSON of the compiled part and the classes of :mod:`adage._types`, by their annotations."""

from __future__ import annotations

import re
import types
from datetime import datetime
from functools import lru_cache, partial
from json import JSONEncoder, loads
from typing import Any, Callable, TypeVar, Union, get_args, get_origin, get_type_hints

from ._errors import ArgumentError
from ._record import Record

T = TypeVar("T", bound=Record)
Convert = Callable[[Any], Any]
_encoder = JSONEncoder(allow_nan=False)


def encode(arguments: Any) -> str:
    """Arguments as JSON.

    Raises:
        ArgumentError: one of them is not a text, a number, a list or a dictionary of these.
    """
    try:
        return _encoder.encode(arguments)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"an argument cannot be used: {error}") from None


def decode(wanted: type[T], text: str) -> T:
    """The object of this class that a JSON text describes."""
    return build(wanted, loads(text))


def decode_list(wanted: type[T], text: str) -> tuple[T, ...]:
    """The objects of this class that a JSON list describes."""
    return tuple(build(wanted, row) for row in loads(text))


def decode_optional(wanted: type[T], text: str) -> T | None:
    """As :func:`decode`; None for ``null``."""
    row = loads(text)
    return None if row is None else build(wanted, row)


def build(wanted: type[T], row: dict[str, Any]) -> T:
    """The object of this class that a dictionary describes. Fields that the class does not have go to its ``extra``, if it has one."""
    values: dict[str, Any] = {}
    for name, convert in _plan(wanted):  # type: ignore[arg-type]
        if name in row:
            value = row[name]
            values[name] = value if convert is None or value is None else convert(value)
        else:
            values[name] = wanted._default(name)
    if "extra" in values:
        values["extra"] = {name: value for name, value in row.items() if name not in values}
    built = object.__new__(wanted)
    built.__dict__.update(values)
    return built


@lru_cache(maxsize=None)
def _plan(wanted: Any) -> tuple[tuple[str, Convert | None], ...]:
    hints = get_type_hints(wanted)
    return tuple((name, _converter(hints[name])) for name in wanted._fields)


def _converter(hint: Any) -> Convert | None:
    """How a value becomes one of this annotation; None if it is one already."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        (inner,) = [argument for argument in arguments if argument is not type(None)]
        return _converter(inner)
    if origin is tuple:
        inner = _converter(arguments[0])
        return tuple if inner is None else lambda values: tuple(inner(value) for value in values)
    if hint is datetime:
        return parse_time
    if isinstance(hint, type) and issubclass(hint, Record):
        return partial(build, hint)
    return None


_TIME = re.compile(r"([^.Z]*?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)")


def parse_time(text: str) -> datetime:
    """An aware time of RFC 3339. Python keeps microseconds; further digits are cut."""
    parts = _TIME.fullmatch(text)
    if parts is None:
        raise ValueError(f"{text!r} is not a time of RFC 3339")
    whole, fraction, zone = parts.groups(default="")
    # CPython 3.10 reads neither Z nor other numbers of digits than 3 and 6.
    return datetime.fromisoformat(f"{whole}.{fraction[:6]:0<6}{'+00:00' if zone == 'Z' else zone}")
