"""The file formats: reading, detection by content, and the table of all formats."""

from evaluator.formats.base import KINDS, BoxFormat, Content, FileGroup, Format, Kind, Reading
from evaluator.formats.column_cache import digest_of
from evaluator.formats.detect import HEAD_BYTES, detect_bytes, detect_file, need_kind, recognise, side_of
from evaluator.formats.reading import files_of, is_cached, merged, read, read_bytes, read_files, whole_path_format
from evaluator.formats.registry import (
    FORMATS,
    AnyFormat,
    format_of,
    of_kind,
    outline_issues,
    pair_issues,
    register,
    resolve,
    suffixes,
)

__all__ = [
    "FORMATS",
    "HEAD_BYTES",
    "KINDS",
    "AnyFormat",
    "BoxFormat",
    "Content",
    "FileGroup",
    "Format",
    "Kind",
    "Reading",
    "detect_bytes",
    "detect_file",
    "digest_of",
    "files_of",
    "format_of",
    "is_cached",
    "merged",
    "need_kind",
    "of_kind",
    "outline_issues",
    "pair_issues",
    "read",
    "read_bytes",
    "read_files",
    "recognise",
    "register",
    "resolve",
    "side_of",
    "suffixes",
    "whole_path_format",
]  # fmt: skip
