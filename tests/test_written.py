"""What is written has the schemas of docs/schemas, and a file of each earlier version still opens."""

import json
import shutil
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from evaluator import formats
from evaluator.analysis.slices.named_slices import read_named
from evaluator.compare.stored_results import read_results
from evaluator.formats import corpus
from evaluator.pack import diff
from evaluator.review import findings_import
from evaluator.review.store import Store
from evaluator.workspace import project_file
from tests import schemas, written_files
from tests.written_files import FIXTURES, KEPT

VERSIONS = sorted(folder.name for folder in FIXTURES.iterdir())


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    folder = tmp_path_factory.mktemp("written")
    written_files.write_kept(folder)
    return written_files.values(folder)


def closed(node: Any, name: str = "") -> Any:
    """A schema that takes declared keys only; but what results of all protocols have, each has more of."""
    if isinstance(node, dict):
        more = {"additionalProperties": False} if "properties" in node and name != "Result" else {}
        return {**{key: closed(value, key) for key, value in node.items()}, **more}
    return [closed(each) for each in node] if isinstance(node, list) else node


def test_the_schemas_are_those_of_the_code() -> None:
    kept = {
        path.name.removesuffix(".schema.json"): path.read_text(encoding="utf-8") for path in schemas.FOLDER.iterdir()
    }
    assert kept == {name: schemas.text(name) for name in schemas.WRITTEN}, "run python -m tests.schemas"


def test_what_is_written_has_its_schema_and_no_key_besides(written: dict[str, list[Any]]) -> None:
    assert written.keys() == schemas.WRITTEN.keys()
    for name, values in written.items():
        assert values
        assert all(values), name
        schema = schemas.schema(name)
        jsonschema.Draft202012Validator.check_schema(schema)
        check = jsonschema.Draft202012Validator(closed(schema))
        assert [
            f"{name}: {each.json_path}: {each.message}" for value in values for each in check.iter_errors(value)
        ] == []


@pytest.mark.parametrize("version", VERSIONS)
def test_files_of_earlier_versions_open(version: str, tmp_path: Path) -> None:
    folder = shutil.copytree(FIXTURES / version, tmp_path / "kept")
    for name in ("snapshot", "coco"):
        content = (folder / f"result-{name}.json").read_bytes()
        jsonschema.validate(json.loads(content), schemas.schema(f"result-{name}"))
        (result,) = read_results(content, "result.json")
        fits = {"protocol": name, "signature": result.signature, "truth_sha256": result.truth_sha256, "iou": 0.5}
        assert result.against(**fits) == ""  # type: ignore[arg-type]
        metrics = {key.metric for key in result.model_entry(0.5).measures.keys}
        assert metrics >= {"precision", "recall", "f1", *(("AP", "AP50", "AP75") if name == "coco" else ())}
    workspace, query = project_file.read(folder / "layoutscope.toml")
    assert (len(workspace.of("boxes").predictions), query) == (2, "iou=0.6&protocol=coco")
    project = tomllib.loads((folder / "layoutscope.toml").read_text(encoding="utf-8"))
    jsonschema.validate(project, schemas.schema("project"))
    assert [each.name for each in read_named(folder / "layoutscope-slices.json")] == ["tables"]
    with Store(folder / "findings.db") as store:
        (event,) = store.events()
    assert (event.note, event.tags) == ("=A table is missing", ("later",))
    for form in ("json", "csv", "parquet"):
        file = folder / f"findings.{form}"
        assert [each.note for each in findings_import.read(file.read_bytes(), file.name).events] == [event.note]
    assert len(diff.read(folder / "pack.html").models) == 2
    sides = [group.path for group in corpus.groups(folder / "corpus")]
    assert [len(formats.read(side).boxes.entry) for side in sides] == [40, 40]
    assert {path.name for path in folder.iterdir()} >= {*KEPT}
