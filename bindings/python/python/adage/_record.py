"""Frozen records: what ``dataclasses`` makes, in a third of the time that importing the package may take.

Compiling the methods of forty data classes takes 30 ms, and importing ``dataclasses`` another 20; here every class shares its methods.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: object) -> Any:
        return lambda wanted: wanted


@dataclass_transform(frozen_default=True)
class Record:
    """An object whose fields are its class's annotations. It cannot be changed; equal fields make equal records."""

    _fields: ClassVar[tuple[str, ...]] = ()
    _defaults: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        names = [name for name, kind in vars(cls).get("__annotations__", {}).items() if "ClassVar" not in str(kind)]
        cls._fields = cls.__match_args__ = (*cls._fields, *names)  # type: ignore[attr-defined, misc]
        cls._defaults = {**cls._defaults, **{name: vars(cls)[name] for name in names if name in vars(cls)}}
        # `help` lists no annotations, and cuts their dictionary off.
        listed = [f"    {name}: {vars(cls)['__annotations__'][name]}{cls._shown_default(name)}" for name in names]
        if listed:
            cls.__doc__ = "\n".join([cls.__doc__ or "", "", "    Fields:", *(f"    {line}" for line in listed)])

    if not TYPE_CHECKING:

        def __init__(self, *values, **named):
            given = dict(zip(self._fields, values))
            both = given.keys() & named.keys()
            given.update(named)
            unknown = given.keys() - set(self._fields)
            missing = [name for name in self._fields if name not in given and name not in self._defaults]
            if len(values) > len(self._fields) or both or unknown or missing:
                raise TypeError(
                    f"{type(self).__name__} takes {', '.join(self._fields)}; missing: {missing}, unknown: {sorted(unknown)},"
                    f" given twice: {sorted(both)}, by position: {len(values)}"
                )
            self.__dict__.update({name: given.get(name, self._default(name)) for name in self._fields})

    @classmethod
    def _shown_default(cls, name: str) -> str:
        return f" = {cls._defaults[name]!r}" if name in cls._defaults else ""

    @classmethod
    def _default(cls, name: str) -> Any:
        default = cls._defaults.get(name)
        return dict(default) if isinstance(default, dict) else default

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self._fields)})"

    def __eq__(self, other: object) -> bool:
        return self.__dict__ == other.__dict__ if type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self.__dict__.values()))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed; make another one")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed; make another one")


class Result(Record):
    """What a call returns."""

    def to_dict(self) -> dict[str, Any]:
        """The same as plain dictionaries, lists, texts and numbers, for ``json.dumps``; times as RFC 3339."""
        return {name: _plain(value) for name, value in self.__dict__.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value.isoformat() if isinstance(value, datetime) else value
