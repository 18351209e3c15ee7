"""Ground truth that deserves a second look, most likely wrong first, and how much of it to review.

`listing.suspects` is the way in. `pairing` says which prediction lies at which ground truth box and which are
alone, `laws` measures on the data itself how models and labels behave where nothing is wrong, `at_boxes` and `absent`
weigh what is seen under "nothing is wrong" against each kind of error, `ranking` makes one list of it, `listing` puts
it in words, `ink` looks at the page, `planning` draws the sample that bounds recall. No number of an evaluation changes
here: a suspect becomes a verdict only when a reviewer accepts it.
"""
