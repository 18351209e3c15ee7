"""Changed files: every reader gives columns or issues, and nothing else."""

from __future__ import annotations

import pytest

from evaluator import formats
from evaluator.model.issues import BadInput
from tests.attacks import attempts, good_files


@pytest.mark.parametrize("reader", sorted(good_files()))
def test_changed_files_give_columns_or_issues(reader: str) -> None:
    made = list(attempts(reader, 60, seed=1))
    assert len(made) == 60
    assert [(attempt.uncaught, attempt.content) for attempt in made if attempt.uncaught] == []


def test_a_page_of_nearly_no_size_makes_no_infinite_boxes() -> None:
    ((name, content),) = good_files()["docling"]
    tiny = content.replace(b'"height": 100}', b'"height": 1e-320}').replace(b'"height": 200}', b'"height": 1e-320}')
    assert tiny != content
    with pytest.raises(BadInput) as refused:
        formats.read_bytes(tiny, name)
    (issue,) = (issue for issue in refused.value.issues if issue.severity == "error")
    assert issue.rule.startswith("the size of a page must be in the unit of its boxes")
