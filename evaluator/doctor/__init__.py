"""The doctor: what is probably wrong with files of which little or nothing matches, and the fixes that mend it.

``names`` compares names of documents, ``geometry`` coordinates and page numbers, ``labels`` names of labels;
``diagnosis`` tries them on the data. A fix is chosen by the reader, never applied in silence, and is part of the
signature; ``fixes`` spells and applies it. Nothing here reads a file or evaluates: how good two files are together is
asked of whoever wants the diagnosis.
"""

from evaluator.doctor.fixes import Fix, FixError, apply_fixes, fix_of, fixes_for, spelled

__all__ = ["Fix", "FixError", "apply_fixes", "fix_of", "fixes_for", "spelled"]
