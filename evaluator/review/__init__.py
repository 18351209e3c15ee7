"""Findings: verdicts on mistakes, pages, documents and comparisons, their store, corrected numbers.

A finding is a judged thing of a page or a result; what is wrong with a *file* is `data.issues.Issue`. Time comes from
the caller: no module here reads a clock.
"""
