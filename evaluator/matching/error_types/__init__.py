"""The names of mistakes: the six types of TIDE, and the words in which people talk about a page.

Works on columns of one dataset: boxes are x1, y1, x2, y2, origin top left, one unit on both sides; page and label are
integer codes that both sides share. `ERROR_TYPES` lists both families of names.

**TIDE** (`tide`) explains average precision: a mistake is a prediction or a ground truth, seen one by one, whatever
the score threshold.

**Document names** (`name_mistakes`) explain a page at one operating point: a mistake is what a person would point at
once, so it may hold several boxes. The rules are tried from the top. A box that has a name is out of reach for the
rules below, so each box gets exactly one.

====  ============  ====================================================================================================
rule  name          what must hold; "free" is an unmatched box that has no name yet, thresholds are `MistakeOptions`
====  ============  ====================================================================================================
1     split         a ground truth, free or matched with one of its parts, holds two or more predictions of its label:
                    the parts lie in it, they are apart, and together they cover at least ``together_share`` of it;
                    all parts but the matched one are free
2     merged        the same with the sides exchanged: a prediction holds two or more ground truths of its label
3     duplicate     a free prediction has IoU >= the threshold with a matched ground truth of its label
4     wrong class   a free prediction and a free ground truth of another label have IoU >= the threshold
5     cut off       a free prediction and a free ground truth of one label are near; the prediction lies in the ground
                    truth, and the share it loses is at least ``lopsided`` times the share it takes in from outside
6     over-cropped  as 5, with the sides exchanged: the ground truth lies in the prediction, which takes in too much
7     near miss     as 5, and neither 5 nor 6 holds
8     wrong class   a free prediction and a free ground truth of another label have IoU >= ``near_iou``
9     duplicate     a free prediction is near a ground truth of its label that has its prediction by now (matched, or
                    named with one by rules 1 to 8), or has IoU >= the threshold with one of any label
10    missed        a free ground truth
11    extra         a free prediction: an extra box with nothing there
12    cut off       a matched pair that no split or merge holds has coverage < ``min_coverage``, and its purity is good
                    or its coverage the worse of the two
13    over-cropped  the same with purity < ``min_purity``
====  ============  ====================================================================================================

A box *lies in* another when at least ``inside_share`` of its area is inside of it. Two boxes are *near* when their IoU
is at least ``near_iou`` or one lies in the other; below ``touch_iou`` nothing is looked at. Parts are *apart* when
less than ``apart_share`` of each is inside of the main part, which is the matched one or the one with the highest IoU.
Rules 4 to 8 pair boxes off greedily by falling IoU (5, 6 and 7 are one pass); rules 1 and 2 give a part to the box with
which it has the highest IoU. Equal IoU goes by place, whatever the order of the rows: the prediction further up on the
page first (by y1, x1, y2, x2, then the label), then the ground truth further up. The side of a cut is the one at which
most of the height or width is missing (over-cropped: taken in too much), ties in the order of `SIDES`.
"""

from evaluator.matching.error_types.document import (
    Carriers,
    MistakeOptions,
    Mistakes,
    Touching,
    name_mistakes,
    touching_pairs,
)
from evaluator.matching.error_types.names import (
    DOCUMENT,
    ERROR_TYPES,
    NONE,
    SIDES,
    TIDE,
    BoxColumns,
    ErrorType,
    KindArray,
)
from evaluator.matching.error_types.tide import TideErrors, TideOptions, TidePartial, tide

__all__ = [
    "DOCUMENT", "ERROR_TYPES", "NONE", "SIDES", "TIDE", "BoxColumns", "Carriers",
    "ErrorType", "KindArray", "MistakeOptions", "Mistakes", "TideErrors", "TideOptions", "TidePartial",
    "Touching", "name_mistakes", "tide", "touching_pairs",
]  # fmt: skip
