"""The sample reports: one module per document, each with a `REPORT`; all topics and numbers are invented."""
