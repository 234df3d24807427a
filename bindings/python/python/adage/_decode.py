"""Between the JSON of the compiled part and the classes of :mod:`adage._types`, by their annotations."""

from __future__ import annotations

import re
import types
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import datetime
from functools import lru_cache, partial
from json import dumps, loads
from typing import Any, Callable, TypeVar, Union, get_args, get_origin, get_type_hints

from ._errors import ArgumentError

T = TypeVar("T")
Convert = Callable[[Any], Any]


def encode(arguments: Any) -> str:
    """Arguments as JSON.

    Raises:
        ArgumentError: one of them is not a text, a number, a list or a dictionary of these.
    """
    try:
        return dumps(arguments, allow_nan=False)
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
    for name, convert, default in _plan(wanted):  # type: ignore[arg-type]
        if name in row:
            value = row[name]
            values[name] = value if convert is None or value is None else convert(value)
        else:
            values[name] = default()
    if "extra" in values:
        values["extra"] = {name: value for name, value in row.items() if name not in values}
    built = object.__new__(wanted)
    built.__dict__.update(values)
    return built


@lru_cache(maxsize=None)
def _plan(wanted: Any) -> tuple[tuple[str, Convert | None, Callable[[], Any]], ...]:
    hints = get_type_hints(wanted)
    return tuple((field.name, _converter(hints[field.name]), _default(field)) for field in fields(wanted))


def _default(field: Field[Any]) -> Callable[[], Any]:
    if field.default_factory is not MISSING:
        return field.default_factory
    default = None if field.default is MISSING else field.default
    return lambda: default


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
    if isinstance(hint, type) and is_dataclass(hint):
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


def plain(value: Any) -> Any:
    """Dictionaries, lists, texts and numbers in place of objects; times as RFC 3339."""
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return value.isoformat() if isinstance(value, datetime) else value
