"""Findings: the verdicts on mistakes, pages, documents and comparisons, where it is kept, and what it changes.

A finding is a judged thing of a page or a result; what is wrong with a *file* is `model.issues.Issue`. Verdicts
and their order are in ``verdicts``, what identifies a judged thing in ``identity``, whether it still is a mistake in
``status``, the database in ``store``, files that people exchange in ``exchange``, and the numbers under the
corrected ground truth in ``corrected``. Time comes from the caller: this room has no clock.
"""
