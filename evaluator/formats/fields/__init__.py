"""Extracted fields: the face of the format."""

from evaluator.formats.fields.pair import check_pair
from evaluator.formats.fields.reader import FORMAT, LINE_SUFFIXES, MAX_ITEMS, MAX_TEXT, Fields
from evaluator.formats.fields.schema import read_schema, schema_from

__all__ = ["FORMAT", "LINE_SUFFIXES", "MAX_ITEMS", "MAX_TEXT", "Fields", "check_pair", "read_schema", "schema_from"]
