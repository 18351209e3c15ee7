"""The options of the protocols as command-line parameters: name, help and range are those of their structs."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import field, make_dataclass
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from cyclopts import Group, Parameter
from msgspec import Meta

from evaluator.cli.arguments import assignment, names, need_ratio, size, thresholds, weight
from evaluator.cli.program import UsageError, in_one_sentence, need_folder
from evaluator.data.fixes import Fix, FixError, parse_fix
from evaluator.data.taxonomies import NAMES
from evaluator.project import spelled
from evaluator.protocols import PROTOCOLS
from evaluator.protocols.base import BoxOptions

_boxes = Group("Boxes", sort_key=1)
_own = Group("Options of one protocol", sort_key=2)

Read = Callable[[str, Any], Any]
"""Flag and what was written after it, to the value of the option; UsageError in one sentence."""


class _Flag(NamedTuple):
    """How an option of one type is written: type of the command line, default, and how it is read."""

    type: Any
    default: object
    read: Read


def _ratio(flag: str, value: float) -> float:
    need_ratio(flag, value)
    return value


def _folder(flag: str, value: Path) -> Path:
    need_folder(flag, value)
    return value


def _as_written(flag: str, value: object) -> object:
    return value


def _flag_of(hint: object, meta: Meta) -> _Flag:
    origin, parts = get_origin(hint), get_args(hint)
    if tuple[Path, ...] in parts:
        return _Flag(Path | None, None, _folder)
    if hint == int | bool:
        # The order decides: 1 is a number, and the flag alone is True.
        return _Flag(int | bool, 0, _as_written)
    if origin in (Union, types.UnionType):
        return _flag_of(next(part for part in parts if part is not type(None)), meta)
    if hint is bool:
        return _Flag(bool, False, _as_written)
    if hint is float:
        return _Flag(float | None, None, _ratio if (meta.ge, meta.le) == (0.0, 1.0) else _as_written)
    if hint == tuple[Fix, ...]:
        return _Flag(tuple[str, ...], (), lambda flag, texts: _fixes(texts))
    if hint == tuple[float, ...]:
        return _Flag(tuple[str, ...], (), lambda flag, texts: tuple(x for text in texts for x in thresholds(text)))
    if hint == tuple[float, float]:
        return _Flag(str | None, None, lambda flag, text: size(text))
    if hint == tuple[str, ...]:
        return _Flag(str | None, None, names)
    if origin is Mapping:
        return _Flag(tuple[str, ...], (), _names_to_numbers if parts[1] is not str else _names_to_names)
    if origin is Literal or hint in (Path, str, int):
        return _Flag(hint | None, None, _as_written)  # type: ignore[operator]
    raise TypeError(f"no flag for {hint}")


def _names_to_names(flag: str, texts: tuple[str, ...]) -> dict[str, str]:
    return dict(assignment(flag, text) for text in texts)


def _names_to_numbers(flag: str, texts: tuple[str, ...]) -> dict[str, float]:
    return {name: weight(name, value) for name, value in (assignment(flag, text) for text in texts)}


def _fixes(texts: tuple[str, ...]) -> tuple[Fix, ...]:
    with in_one_sentence(FixError):
        return tuple(map(parse_fix, texts))


class _Option(NamedTuple):
    flag: _Flag
    help: str
    shared: bool

    def joined(self, kind: object, help: str) -> _Option:
        """Return the option with the choices of another protocol, which says itself what they are."""
        choices = dict.fromkeys((*get_args(get_args(self.flag.type)[0]), *get_args(kind)))
        flag = self.flag._replace(type=Literal[tuple(choices)] | None)
        return self._replace(flag=flag, help=f"{self.help} {help[:1].upper()}{help[1:]}")


def _options() -> dict[str, _Option]:
    options: dict[str, _Option] = {}
    for protocol in PROTOCOLS.values():
        for name, hint in get_type_hints(protocol.options, include_extras=True).items():
            kind, *metas = get_args(hint)
            if name in options and get_origin(kind) is not Literal:
                continue
            bounds = next((meta for meta in metas if meta.ge is not None or meta.le is not None), Meta())
            text = next(meta.description for meta in metas if meta.description)
            if name in options:
                options[name] = options[name].joined(kind, f"{protocol.name}: {text}")
                continue
            shared = name in BoxOptions.__struct_fields__
            options[name] = _Option(_flag_of(kind, bounds), text if shared else f"{protocol.name}: {text}", shared)
    return options


_OPTIONS: Final = _options()

# A pack has one IoU threshold and a score threshold for each model, pages and PDFs of its own.
_OWN_OF_PACK: Final = ("iou", "min_score", "pdfs", "page_ranges", "exact")


_LABELS_OF: Final[Any] = Annotated[
    Literal[NAMES] | None,
    Parameter(
        group=_boxes,
        help="Read the labels of all files under the names of this taxonomy, as --fix labels=NAME does.",
    ),
]


def _made(name: str, without: tuple[str, ...] = ()) -> Any:  # noqa: ANN401 - a class that is made here
    fields = [
        (
            option,
            Annotated[
                row.flag.type,
                Parameter(group=_boxes if row.shared else _own, help=row.help, negative=""),
            ],
            field(default=row.flag.default),
        )
        for option, row in _OPTIONS.items()
        if option not in without
    ]
    fields.append(("labels_of", _LABELS_OF, field(default=None)))
    namespace = {"__module__": __name__, "__doc__": "What can be chosen about an evaluation."}
    return Parameter(name="*")(make_dataclass(name, fields, frozen=True, kw_only=True, namespace=namespace))


if TYPE_CHECKING:

    class ProtocolOptions:
        """What can be chosen about an evaluation, one field for each option of each protocol."""

    class PackedOptions(ProtocolOptions):
        """The same for a review pack, without what that chooses itself."""

else:
    ProtocolOptions = _made("ProtocolOptions")
    PackedOptions = _made("PackedOptions", _OWN_OF_PACK)

DEFAULT: Final = ProtocolOptions()
"""Nothing chosen."""
DEFAULT_OF_PACK: Final = PackedOptions()


def given_options(options: ProtocolOptions) -> dict[str, Any]:
    """Return the given options as the protocols take them; UsageError for a wrongly written one."""
    given = {name: getattr(options, name) for name in _OPTIONS if hasattr(options, name)}
    if labels_of := getattr(options, "labels_of", None):
        given["fix"] = (*given["fix"], f"labels={labels_of}")
    return {
        name: _OPTIONS[name].flag.read(spelled(name), value)
        for name, value in given.items()
        if value != _OPTIONS[name].flag.default
    }


def need_protocol(protocol: str) -> None:
    """Refuse a protocol that does not exist."""
    if protocol not in PROTOCOLS:
        raise UsageError(f"protocol must be one of {', '.join(PROTOCOLS)}; found {protocol}.")
