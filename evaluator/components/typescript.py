"""The contract with the browser: the structs of all components written as TypeScript to ``shared/payloads.d.ts``.

``python -m evaluator.components.typescript`` writes the file, and the verdicts with their signs to
``shared/verdicts.js``. An interface is a struct with its own fields and those of
its base; a sentence below a field becomes its comment; a field of a payload or event with a default may be left out.
"""

from __future__ import annotations

import ast
import inspect
import json
import types
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Final, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from evaluator.components import payload
from evaluator.components.compare import payload as compare
from evaluator.components.decisions import payload as decisions
from evaluator.components.drop import payload as drop
from evaluator.components.gallery import payload as gallery
from evaluator.components.matrix import payload as matrix
from evaluator.components.meeting import payload as meeting
from evaluator.components.overview import payload as overview
from evaluator.components.pack import payload as pack
from evaluator.components.slices import payload as slices
from evaluator.components.suspects import payload as suspects
from evaluator.components.theme import payload as theme
from evaluator.components.tint import payload as tint
from evaluator.components.viewer import payload as viewer
from evaluator.review.finding_groups import UNDECIDED_MARK, VERDICT_MARKS
from evaluator.review.verdicts import STATUSES, VERDICTS

MODULES: Final = (
    payload,
    viewer,
    compare,
    slices,
    suspects,
    gallery,
    meeting,
    decisions,
    overview,
    theme,
    drop,
    matrix,
    tint,
    pack,
)
"""What has structs, in the order in which they are written."""
PATH: Final = Path(__file__).parent / "shared" / "payloads.d.ts"
VERDICTS_PATH: Final = PATH.parent / "verdicts.js"
_HEAD: Final = """/**
 * What Python sends to each component and what each component sends back: the one contract of both sides.
 *
 * Written by `python -m evaluator.components.typescript` from the `payload.py` of each component; change it there. `?`
 * is a property that may be left out, `| null` one that may have no value. Coordinates are shares of the displayed
 * page, origin top left, unless a property names pixels. A component's events are one interface whose keys are the
 * names of the events; Streamlit calls `on_<name>_change` for each.
 */
"""
_BASES: Final = (payload.Payload, payload.Event, payload.Events)
_SCALARS: Final[Mapping[object, str]] = {
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    type(None): "null",
}
# Names that stand for a type; Python keeps no trace of them in a field.
_ALIASES: Final[Mapping[object, str]] = {
    form: name for name, form in vars(payload).items() if get_origin(form) in (tuple, Literal)
}


def typescript() -> str:
    """Return the interfaces of all payloads and events, in the order of the modules."""
    parts = [_HEAD]
    comments = _comments(ast.parse(inspect.getsource(payload)).body)
    for form, name in _ALIASES.items():
        parts.append(f"{_comment(comments.get(name, ''))}export type {name} = {_spelled(form, top=True)};\n")
    for module in MODULES:
        body = ast.parse(inspect.getsource(module)).body
        of_structs = {each.name: _comments(each.body) for each in body if isinstance(each, ast.ClassDef)}
        parts += [_interface(each, of_structs[each.__name__]) for each in structs_of(module) if each not in _BASES]
    return "\n".join(parts)


def verdicts_script() -> str:
    """Return the module of the verdicts, of how far the work on a finding is, and of the signs of several verdicts."""
    verdicts = [[name, words, VERDICT_MARKS[name]] for name, words in VERDICTS.items()]
    marks = {"none": UNDECIDED_MARK, **{name: VERDICT_MARKS[name] for name in ("conflict", "several")}}
    named = (
        ("name, words, sign", "[string, string, string][]", "VERDICTS", verdicts),
        ("how far the work on a cause is: name, words", "[string, string][]", "TASK_STATUSES", [*STATUSES.items()]),
        ("signs of no verdict, and of several", "{none: string, conflict: string, several: string}", "MARKS", marks),
    )
    lines = [
        f"/** @type {{{form}}} {words} */\nexport const {name} = {json.dumps(value, ensure_ascii=False)};\n"
        for words, form, name, value in named
    ]
    return "\n".join(
        ["/** The verdicts of reviewers, written by `python -m evaluator.components.typescript`. */\n", *lines]
    )


def structs_of(module: types.ModuleType) -> list[type[msgspec.Struct]]:
    """Return the structs that a module defines, in its order."""
    return [
        each
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, msgspec.Struct) and each.__module__ == module.__name__
    ]


def _interface(struct: type[msgspec.Struct], comments: Mapping[str, str]) -> str:
    bases = [base.__name__ for base in struct.__bases__ if base not in _BASES]
    extends = f" extends {', '.join(bases)}" if bases else ""
    lines = "".join(f"  {line}\n" for line in _fields(struct, comments))
    return f"{_comment(inspect.getdoc(struct) or '')}export interface {struct.__name__}{extends} {{\n{lines}}}\n"


def _fields(struct: type[msgspec.Struct], comments: Mapping[str, str]) -> Iterator[str]:
    own = inspect.get_annotations(struct)
    forms = get_type_hints(struct)
    events = issubclass(struct, payload.Events)
    for field in msgspec.structs.fields(struct):
        if field.name not in own:
            continue
        if field.name in comments:
            yield _comment(comments[field.name]).rstrip()
        form = forms[field.name]
        if events:
            # An event that was not sent is None in Python, and no value that can be sent.
            (form,) = (each for each in get_args(form) if each is not type(None))
        optional = not (field.required or events) and (
            issubclass(struct, payload.Event) or struct.__struct_config__.omit_defaults
        )
        yield f"{field.name}{'?' if optional else ''}: {_spelled(form)};"


def _spelled(form: object, *, top: bool = False) -> str:
    """Return a Python type in TypeScript; `top` for the definition of an alias."""
    if not top and form in _ALIASES:
        return _ALIASES[form]
    if form in _SCALARS:
        return _SCALARS[form]
    if isinstance(form, type) and issubclass(form, msgspec.Struct):
        return form.__name__
    origin, arguments = get_origin(form), get_args(form)
    if origin is Literal:
        return " | ".join(json.dumps(each) for each in arguments)
    if origin is Annotated:
        return _spelled(arguments[0])
    if origin in (Union, types.UnionType):
        return " | ".join(_spelled(each) for each in arguments)
    if origin is tuple and arguments[1:] != (Ellipsis,):
        return f"[{', '.join(_spelled(each) for each in arguments)}]"
    if origin in (Sequence, tuple):
        item = _spelled(arguments[0])
        return f"({item})[]" if " | " in item and not item.endswith("]") else f"{item}[]"
    if origin is Mapping:
        return f"Record<{', '.join(_spelled(each) for each in arguments)}>"
    raise TypeError(f"no TypeScript for {form}")


def _comments(body: Sequence[ast.stmt]) -> dict[str, str]:
    comments = {}
    for statement, after in pairwise(body):
        target = (
            statement.targets[0]
            if isinstance(statement, ast.Assign)
            else statement.target
            if isinstance(statement, ast.AnnAssign)
            else None
        )
        if (
            isinstance(target, ast.Name)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
            and isinstance(after.value.value, str)
        ):
            comments[target.id] = after.value.value
    return comments


def _comment(text: str) -> str:
    return f"/** {' '.join(text.split())} */\n" if text else ""


if __name__ == "__main__":
    PATH.write_text(typescript(), encoding="utf-8")
    VERDICTS_PATH.write_text(verdicts_script(), encoding="utf-8")
