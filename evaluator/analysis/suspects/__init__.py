"""Ground truth that deserves a second look, most likely wrong first, and how much of it to review.

`listing.suspects` is the entry point: `pairing`, `noise_model` and `model_evidence` prepare what `box_errors` and
`missing_boxes` weigh, `ranking` makes one list, `listing` its words, `page_evidence` looks at words and ink of the
page, `review_plan` draws the sample that bounds recall.
A suspect changes no number until a reviewer accepts it.
"""
