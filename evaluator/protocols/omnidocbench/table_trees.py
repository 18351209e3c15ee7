"""TEDS by the program of PubTabNet on the normal forms of OmniDocBench 1.5, with every tag that these still have.

What lies in a cell counts in the size of a table and not in its distance; a tag in a cell is one sign of its text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from evaluator.data.cells import Cell
from evaluator.protocols.tables.teds import distance_of_rows

# A tag is a character that no text has.
_FIRST_TAG: Final = 0x100000


class Tree(NamedTuple):
    """A node of a table: its tag, its spans and its text, which cells have alone, and the nodes below it."""

    tag: str
    cell: Cell | None
    below: Sequence[Tree]


def teds_of_markup(truth: str, predicted: str) -> tuple[float, float]:
    """Return TEDS and TEDS-S of two tables; 0 where one is none, or cannot be read."""
    tags: dict[str, str] = {}
    read = [_read(markup, tags) for markup in (truth, predicted)]
    one, other = read
    if one is None or other is None:
        return 0.0, 0.0
    size = max(one[1], other[1])
    rows, others = _rows(one[0]), _rows(other[0])
    if rows is not None and others is not None:
        distances = distance_of_rows(rows, others).tolist()
    else:
        distances = [_distance(one[0], other[0], texts=texts) for texts in (True, False)]
    with_text, structure = (1.0 - each / size if size else 0.0 for each in distances)
    return with_text, structure


def _read(markup: str, tags: dict[str, str]) -> tuple[Tree, int] | None:
    # Only tables of markup need it, which takes 10 ms.
    from lxml import etree, html  # type: ignore[import-untyped]

    if not markup:
        return None
    try:
        page = html.fromstring(markup, parser=html.HTMLParser(remove_comments=True, encoding="utf-8"))
        tables = page.xpath("body/table")
        return (_tree(tables[0], tags), len(tables[0].xpath(".//*"))) if tables else None
    except (etree.LxmlError, ValueError, RecursionError):
        return None


def _tree(node: Any, tags: dict[str, str]) -> Tree:  # noqa: ANN401 - lxml has no types
    if node.tag != "td":
        return Tree(str(node.tag), None, [_tree(child, tags) for child in node])
    row_span, col_span = (int(node.attrib.get(name, "1")) for name in ("rowspan", "colspan"))
    return Tree("td", Cell(0, 0, row_span, col_span, text=_inside(node, tags)), ())


def _inside(node: Any, tags: dict[str, str]) -> str:  # noqa: ANN401 - lxml has no types
    """Return what is in a node, each tag as one character."""

    def sign(tag: str) -> str:
        return tags.setdefault(tag, chr(_FIRST_TAG + len(tags)))

    parts = [node.text or ""]
    for child in node:
        parts += [sign(f"<{child.tag}>"), _inside(child, tags)]
        parts += [sign(f"</{child.tag}>")] if child.tag != "unk" else []
        parts += [child.tail or ""] if child.tag != "td" else []
    return "".join(parts)


def _rows(table: Tree) -> list[list[Cell]] | None:
    if any(row.tag != "tr" or any(part.cell is None for part in row.below) for row in table.below):
        return None
    rows = [[part.cell for part in row.below if part.cell is not None] for row in table.below]
    return rows if any(rows) else None


def _distance(one: Tree, other: Tree, *, texts: bool) -> float:
    """Return the edit distance of two ordered trees (Zhang and Shasha 1989)."""
    from rapidfuzz.distance import Levenshtein

    def postorder(tree: Tree) -> list[tuple[Tree, int]]:
        """Return the nodes, each with the place of the first leaf below it."""
        nodes: list[tuple[Tree, int]] = []
        for child in tree.below:
            first = len(nodes)
            nodes += [(node, first + leaf) for node, leaf in postorder(child)]
        return [*nodes, (tree, 0)]

    def change(first: Tree, second: Tree) -> float:
        if first.tag != second.tag:
            return 1.0
        if first.cell is None or second.cell is None:
            return 0.0
        if first.cell[2:4] != second.cell[2:4]:
            return 1.0
        return Levenshtein.normalized_distance(first.cell.text, second.cell.text) if texts else 0.0

    ones, others = postorder(one), postorder(other)
    roots = [sorted({leaf: at for at, (_, leaf) in enumerate(nodes)}.values()) for nodes in (ones, others)]
    of_trees = [[0.0] * len(others) for _ in ones]
    for last in roots[0]:
        for end in roots[1]:
            left, right = ones[last][1], others[end][1]
            rows, columns = last - left + 2, end - right + 2
            costs = [
                [float(row + column) if not row or not column else 0.0 for column in range(columns)]
                for row in range(rows)
            ]
            for row in range(1, rows):
                node, leaf = ones[left + row - 1]
                for column in range(1, columns):
                    node2, leaf2 = others[right + column - 1]
                    kept = min(costs[row - 1][column], costs[row][column - 1]) + 1.0
                    if leaf == left and leaf2 == right:
                        costs[row][column] = min(kept, costs[row - 1][column - 1] + change(node, node2))
                        of_trees[left + row - 1][right + column - 1] = costs[row][column]
                    else:
                        below = costs[leaf - left][leaf2 - right] + of_trees[left + row - 1][right + column - 1]
                        costs[row][column] = min(kept, below)
    return of_trees[-1][-1]
