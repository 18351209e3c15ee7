"""Slices: is what is planted found first, is nothing found where nothing is, how long does it take, what do others do.

    python -m tests.benchmarks.bench_slices [--seeds 100] [--pages 1000] [--effect 0.15]
    [--only planted,null,null-all,average,speed,peers] [--smoke] [--json]

Planted: one to three random conditions, misses more frequent where they hold, on corpora of random layout with
documents of a random category and pages that are scans or not. A plant is drawn until independent boxes would show it
with z = 8 or more (`--z`), because nobody can find what the data does not hold. "First" means that the costliest row
and the plant have more than half of their boxes in common. Null: outcomes of whole documents, which differ from
document to document, go to other documents; and for all measures together, models whose boxes are missed, mislabelled
and shifted more often in some documents than in others, whatever the boxes are. Average: both for the AP of COCO;
planted are misses on scanned pages, of all documents or of one category. Peers (``--only peers``): `sliceline` and
`divexplorer` on the same bins of the same attributes.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from evaluator.analysis.slices.all_measures import find_by_all_measures
from evaluator.analysis.slices.attributes import attributes_of
from evaluator.analysis.slices.averages import average_on, find_by_average
from evaluator.analysis.slices.conditions import Binned, binned
from evaluator.analysis.slices.search import LEAST_BOXES, Search, search
from evaluator.data.boxes import BoolArray, FloatArray
from evaluator.data.dataset import Annotations, Dataset, join
from evaluator.data.subsets import boxes_at
from evaluator.metrics.observations import Attribute
from evaluator.protocols.coco.evaluation import IOU_THRESHOLDS, CocoResult, result_of
from evaluator.protocols.coco.matching import pair as coco_pair
from evaluator.protocols.snapshot.evaluation import pair
from tests.benchmarks.corpus import dln_like
from tests.benchmarks.measuring import installed, parsed, parser_of, tell, timed

MISSED = 0.15
BARS = {10_000: 10.0, 80_000: 60.0}
DIVEXPLORER_SUPPORT = 0.03
CATEGORIES = ("reports", "laws", "patents", "manuals", "tenders")
OfPages = dict[tuple[str, int | None], dict[str, Any]]
"""What is known of documents and of their pages."""


def categories(dataset: Dataset, codes: Sequence[int]) -> OfPages:
    pairs = zip(dataset.document_ids, codes, strict=True)
    return {(document, None): {"doc_category": CATEGORIES[code]} for document, code in pairs}


def scans(dataset: Dataset, scanned: Sequence[bool]) -> OfPages:
    columns = dataset.page_document.tolist(), dataset.page_index.tolist(), scanned
    return {(dataset.document_ids[code], page): {"scan": scan} for code, page, scan in zip(*columns, strict=True)}


def corpus(pages: int, seed: int) -> tuple[Dataset, tuple[Attribute, ...]]:
    """A dataset without predictions, and the attributes of its boxes, some of them from the files."""
    truth, _ = dln_like(pages, seed=seed)
    dataset = join(truth)
    rng = np.random.default_rng(seed)
    of_pages = categories(dataset, [int(rng.integers(5)) for _ in dataset.document_ids])
    of_pages |= scans(dataset, [bool(rng.random() < 0.3) for _ in range(dataset.pages)])
    return dataset, attributes_of(dataset, dataset.ground_truth, of_pages=of_pages)


def planted(attributes: Sequence[Attribute], rng: np.random.Generator, depth: int, least: float) -> BoolArray:
    """The boxes for which random conditions hold: at least so many, and at most 40 % of all.

    Every condition leaves out a fifth of what the others hold, or more.
    """
    while True:
        masks = []
        for place in rng.choice(len(attributes), depth, replace=False).tolist():
            one = attributes[place]
            if one.kind == "category":
                masks.append(one.values == int(rng.integers(len(one.names))))
            else:
                cut = float(np.nanquantile(one.values, rng.uniform(0.15, 0.85)))
                masks.append(one.values < cut if rng.random() < 0.5 else one.values >= cut)
        every = np.logical_and.reduce(masks)
        others = [np.logical_and.reduce([m for m in masks if m is not mask] or [~(mask & False)]) for mask in masks]
        if every.sum() >= least and every.mean() <= 0.4 and all(every.sum() <= 0.8 * each.sum() for each in others):
            return every


def rows_of(searched: Search, loss: FloatArray) -> list[BoolArray]:
    """The rows of a search as sets of boxes, most costly first."""
    masks = []
    for one in searched.subsets:
        mask = np.zeros(len(loss), bool)
        mask[one.rows] = True
        masks.append((mask.sum() * (loss[mask].mean() - loss[~mask].mean()), mask))
    return [mask for _, mask in sorted(masks, key=lambda each: -each[0])]


def judged(rows: Sequence[BoolArray], plant: BoolArray) -> tuple[bool, int]:
    """Whether the first row is the plant, and how many rows share more than a tenth of their boxes with it."""
    first = bool(rows) and (rows[0] & plant).sum() > 0.5 * (rows[0] | plant).sum()
    return bool(first), sum((row & plant).sum() > 0.1 * min(row.sum(), plant.sum()) for row in rows)


def find_planted(pages: int, seeds: range, *, effect: float, z: float, peers: Sequence[str]) -> dict[str, Any]:
    """How often the plant is the first row, by us and by others on the same table."""
    names = ("ours", *peers)
    first, overlap, seconds = ({name: [] for name in names} for _ in range(3))  # type: ignore[var-annotated]
    confirmed = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        dataset, attributes = corpus(pages, seed)
        depth = seed % 3 + 1
        least = (z / effect) ** 2 * MISSED
        plant = planted(attributes, rng, depth, least)
        loss = (rng.random(len(plant)) < np.where(plant, MISSED + effect, MISSED)).astype(np.float64)
        run = timed(search, attributes, loss, dataset.ground_truth.document.astype(np.int64))
        searched = run.answer
        seconds["ours"].append(run.cpu)
        results = {"ours": rows_of(searched, loss)}
        confirmed.append(bool(searched.subsets) and searched.subsets[0].confirmed)
        table = binned(attributes, least=LEAST_BOXES)
        for peer in peers:
            run = timed(PEERS[peer], table, loss)
            results[peer] = run.answer
            seconds[peer].append(run.cpu)
        for name, rows in results.items():
            right, several = judged(rows, plant)
            first[name].append(right)
            overlap[name].append(several)
    return {
        name: {
            "first": int(sum(first[name])), "of": len(first[name]), "rows_overlapping": float(np.mean(overlap[name])),
            "most_overlapping": int(max(overlap[name])), "cpu_seconds": float(np.mean(seconds[name])),
            **({"confirmed": int(sum(confirmed))} if name == "ours" else {}),
        }
        for name in names
    }  # fmt: skip


def find_nothing(pages: int, seeds: range) -> dict[str, Any]:
    """How often anything is listed when whole documents trade their outcomes."""
    any_row = 0
    for seed in seeds:
        rng = np.random.default_rng(seed + 50_000)
        dataset, attributes = corpus(pages, seed + 50_000)
        document = dataset.ground_truth.document.astype(np.int64)
        # Documents are hard or easy, tables and small boxes hard: all of it goes to other documents.
        hard = np.exp(rng.normal(0.0, 0.4, document.max() + 1))[document]
        label = next(each for each in attributes if each.name == "label").values
        risk = np.clip(MISSED * hard * np.where(label == 8, 2.0, 1.0), 0.0, 0.9)
        loss = (rng.random(len(risk)) < risk).astype(np.float64)
        parts = np.split(loss, np.flatnonzero(np.diff(document)) + 1)
        loss = np.concatenate([parts[place] for place in rng.permutation(len(parts))])
        searched = search(attributes, loss, document)
        any_row += bool(searched.subsets)
    return {"any_row": any_row, "of": len(seeds)}


def careless_models(truth: Annotations, rng: np.random.Generator) -> tuple[Annotations, list[Annotations]]:
    """A ground truth of equally frequent labels, and two models that err more in some documents, for no other reason.

    A box is missed, or called another label, or drawn with some error of its own size, with chances of its document.
    """
    boxes, labels = truth.boxes, len(truth.labels)
    label = rng.integers(0, labels, len(boxes)).astype(np.int32)
    truth = dataclasses.replace(truth, boxes=dataclasses.replace(boxes, label=label))
    size = (boxes.xyxy[:, 2:] - boxes.xyxy[:, :2])[:, [0, 1, 0, 1]]
    models = []
    for name in ("a.json", "b.json"):
        hard = np.exp(rng.normal(0.0, 0.4, int(boxes.document.max()) + 1))[boxes.document]
        rows = np.flatnonzero(rng.random(len(boxes)) >= np.minimum(0.1 * hard, 0.9))
        wrong = rng.random(len(rows)) < np.minimum(0.1 * hard[rows], 0.9)
        named = np.where(wrong, (label[rows] + rng.integers(1, labels, len(rows))) % labels, label[rows])
        moved = rng.normal(0.0, 0.04, (len(rows), 4)) * hard[rows, None] * size[rows]
        drawn = dataclasses.replace(
            boxes_at(boxes, rows),
            label=named.astype(np.int32),
            xyxy=boxes.xyxy[rows] + np.clip(moved, -0.3 * size[rows], 0.3 * size[rows]),
            score=rng.beta(3.0, 1.5, len(rows)),
        )
        models.append(dataclasses.replace(truth, name=name, side="prediction", boxes=drawn))
    return truth, models


def find_nothing_by_all(pages: int, seeds: range) -> dict[str, Any]:
    """How often any measure lists anything of one model, and of the difference of two, where nothing is."""
    of_one, of_two = 0, 0
    for seed in seeds:
        rng = np.random.default_rng(seed + 70_000)
        truth, models = careless_models(dln_like(pages, seed=seed + 70_000)[0], rng)
        dataset = join(truth, *models)
        of_pages = categories(dataset, [int(rng.integers(5)) for _ in dataset.document_ids])
        results = [pair(dataset, model).match().at(0.5) for model in (0, 1)]
        lists = [find_by_all_measures(chosen, of_pages=of_pages) for chosen in (results[:1], results)]
        of_one += bool(lists[0].slices)
        of_two += bool(lists[1].slices)
    return {"one_model": of_one, "two_models": of_two, "of": len(seeds)}


def ranked_model(
    truth: Annotations, rng: np.random.Generator, plant: BoolArray | None = None, *, spread: float = 0.0
) -> Annotations:
    """A model with scores; where something is planted it misses a fifth more of the boxes.

    A box is missed, drawn with some error of its size, or has a false prediction beside it; `spread` says how much the
    documents differ in how often and how far.
    """
    boxes = truth.boxes
    size = (boxes.xyxy[:, 2:] - boxes.xyxy[:, :2])[:, [0, 1, 0, 1]]
    hard = np.exp(rng.normal(0.0, spread, int(boxes.document.max()) + 1))[boxes.document]
    missed = np.minimum(0.1 * hard + (0.0 if plant is None else 0.2 * plant), 0.95)
    kept = np.flatnonzero(rng.random(len(boxes)) >= missed)
    moved = np.clip(rng.normal(0.0, 0.04, (len(kept), 4)) * hard[kept, None], -0.3, 0.3) * size[kept]
    false = np.flatnonzero(rng.random(len(boxes)) < np.minimum(0.2 * hard, 0.9))
    rows = np.concatenate([kept, false])
    drawn = dataclasses.replace(
        boxes_at(boxes, rows),
        xyxy=np.concatenate([boxes.xyxy[kept] + moved, boxes.xyxy[false] + 0.9 * size[false]]),
        score=np.concatenate([rng.beta(4.0, 1.5, len(kept)), rng.beta(1.5, 3.0, len(false))]),
        position=np.arange(len(rows)),
        ids=[str(row) for row in range(len(rows))],
    )
    return dataclasses.replace(truth, name="model.json", side="prediction", boxes=drawn)


class AverageCase(NamedTuple):
    """An evaluation by COCO, what is known of its pages, and the pages where misses are planted; none for nothing."""

    evaluation: CocoResult
    of_pages: OfPages
    planted: BoolArray


def average_case(pages: int, seed: int, *, depth: int, spread: float = 0.0) -> AverageCase:
    """Misses on scanned pages (depth 1), on those of one category of documents (2), or nowhere (0)."""
    rng = np.random.default_rng(seed)
    truth, _ = dln_like(pages, seed=seed)
    dataset = join(truth)
    category = rng.integers(len(CATEGORIES), size=len(dataset.documents))
    scan = rng.random(dataset.pages) < 0.3
    of_pages = categories(dataset, category.tolist()) | scans(dataset, scan.tolist())
    planted = scan & (depth > 0)
    if depth == 2:
        planted &= category[dataset.page_document] == rng.integers(len(CATEGORIES))
    model = ranked_model(truth, rng, planted[dataset.ground_truth.page], spread=spread)
    matching = coco_pair(join(truth, model), 0).match()
    return AverageCase(result_of(matching, IOU_THRESHOLDS), of_pages, planted)


class AverageFound(NamedTuple):
    """What a search by AP gave: what the plant costs, whether it is the first row, the rows, and CPU seconds."""

    effect: float
    first: bool
    rows: tuple[str, ...]
    cpu: float


def found_by_average(case: AverageCase) -> AverageFound:
    """One search by AP."""
    truth, prediction = case.evaluation.evaluated.ground_truth, case.evaluation.matching.prediction
    inside, outside = (
        average_on(case.evaluation, "AP", mask[truth.page], mask[prediction.page])
        for mask in (case.planted, ~case.planted)
    )
    run = timed(find_by_average, [case.evaluation], "AP", of_pages=case.of_pages)
    listed = run.answer.slices
    first = np.zeros(len(truth), bool)
    if listed:
        first[listed[0].parts[0].rows] = True
    right, _ = judged([first] if listed else [], case.planted[truth.page])
    return AverageFound(outside - inside, bool(right), tuple(one.sentence for one in listed), run.cpu)


def find_by_averages(pages: int, seeds: range) -> dict[str, Any]:
    """How often a plant of 8 points of AP or more is the first row, and how often any row is listed without one.

    Of alike documents, and of documents that differ by themselves with the plant on one category of about ten.
    """
    alike: list[AverageFound] = []
    spread: list[AverageFound] = []
    any_row = 0
    for seed in seeds:
        for listed, depth, of in ((alike, seed % 2 + 1, 0.0), (spread, 2, 0.4)):
            one = found_by_average(average_case(pages, seed + 90_000, depth=depth, spread=of))
            if one.effect >= 0.08:
                listed.append(one)
        nothing = average_case(pages, seed + 95_000, depth=0, spread=0.4)
        rows = find_by_average([nothing.evaluation], "AP", of_pages=nothing.of_pages).slices
        any_row += bool(rows)
    every = [*alike, *spread]
    return {
        "first": sum(one.first for one in alike), "of": len(alike), "spread_first": sum(one.first for one in spread),
        "spread_of": len(spread), "most_rows": max((len(one.rows) for one in every), default=0),
        "cpu_seconds": float(np.mean([one.cpu for one in every])) if every else None, "any_row": any_row,
        "nulls": len(seeds),
    }  # fmt: skip


def speed(pages: int) -> dict[str, Any]:
    truth, _ = dln_like(pages)
    dataset = join(truth)
    known = timed(attributes_of, dataset, dataset.ground_truth)
    attributes = known.answer
    rng = np.random.default_rng(0)
    label, y = (next(each for each in attributes if each.name == name).values for name in ("label", "y"))
    loss = (rng.random(len(y)) < np.where((label == 8) & (y > 0.5), 0.4, MISSED)).astype(np.float64)
    searched = timed(search, attributes, loss, dataset.ground_truth.document.astype(np.int64))
    return {
        "pages": pages, "boxes": len(y), "rows": len(searched.answer.subsets), "attributes_cpu_s": known.cpu,
        "search_cpu_s": searched.cpu, "total_cpu_s": known.cpu + searched.cpu, "bar_s": BARS.get(pages),
    }  # fmt: skip


def sliceline_rows(table: Binned, loss: FloatArray) -> list[BoolArray]:
    """The best ten slices of sliceline on bins, most costly first."""
    from sliceline.slicefinder import Slicefinder  # type: ignore[import-not-found]

    codes = table.codes.astype(np.int64) + 1
    finder = Slicefinder(alpha=0.95, k=10, max_l=3, min_sup=max(LEAST_BOXES, len(loss) // 100), verbose=False)
    finder.fit(codes, loss)
    slices = [[None if value is None else int(value) for value in row] for row in finder.top_slices_]
    return _costly([np.logical_and.reduce([codes[:, at] == value for at, value in enumerate(row) if value is not None])
                    for row in slices], loss)  # fmt: skip


def divexplorer_rows(table: Binned, loss: FloatArray) -> list[BoolArray]:
    """The ten slices of divexplorer with the largest t, redundant ones pruned by its own rule, most costly first."""
    import pandas as pd
    from divexplorer import DivergenceExplorer  # type: ignore[import-not-found]

    frame = pd.DataFrame({f"a{at}": table.codes[:, at].astype(str) for at in range(table.codes.shape[1])})
    frame["loss"] = loss
    explorer = DivergenceExplorer(frame)
    # It has no limit of depth; with less support the patterns of one table do not fit into memory.
    groups = explorer.get_pattern_divergence(
        min_support=DIVEXPLORER_SUPPORT,
        quantitative_outcomes=["loss"],
        attributes=[c for c in frame.columns if c != "loss"],
    )
    groups = groups[groups["loss_div"] > 0].sort_values("loss_t", ascending=False).head(10)
    masks = []
    for itemset in groups["itemset"]:
        pairs = [item.split("=", 1) for item in itemset]
        if pairs:
            masks.append(np.logical_and.reduce([(frame[name] == value).to_numpy() for name, value in pairs]))
    return _costly(masks, loss)


def _costly(masks: Sequence[BoolArray], loss: FloatArray) -> list[BoolArray]:
    return sorted(masks, key=lambda mask: -float(mask.sum() * (loss[mask].mean() - loss[~mask].mean())))


PEERS = {"sliceline": sliceline_rows, "divexplorer": divexplorer_rows}


def main() -> None:
    """Print the numbers."""
    parser = parser_of(__doc__, seeds=100, from_seed=0, pages=1000, effect=0.15, z=8.0, speed_pages="10000,80000",
                       only="planted,null,null-all,average,speed,peers")  # fmt: skip
    given = parsed(parser, seeds=2, pages=400, speed_pages="400")
    corpora = given.pages, range(given.from_seed, given.from_seed + given.seeds)
    wanted = given.only.split(",")
    peers = [name for name in PEERS if installed(name)] if "peers" in wanted else []
    result: dict[str, Any] = {}
    if "planted" in wanted or peers:
        result["planted"] = find_planted(*corpora, effect=given.effect, z=given.z, peers=peers)
    for name, find in {"null": find_nothing, "null-all": find_nothing_by_all, "average": find_by_averages}.items():
        if name in wanted:
            result[name] = find(*corpora)
    if "speed" in wanted:
        result["speed"] = [speed(int(pages)) for pages in given.speed_pages.split(",")]
    tell(result, as_json=given.json)


if __name__ == "__main__":
    main()
