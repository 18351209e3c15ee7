"""Ground truth that deserves a second look, most likely wrong first, and how much of it to review.

`listing.suspects` is the entry point: `pairing` and `laws` prepare the evidence, `at_boxes` and `absent` weigh it,
`ranking` makes one list, `listing` its words, `ink` looks at the page, `planning` draws the sample that bounds recall.
A suspect changes no number until a reviewer accepts it.
"""
