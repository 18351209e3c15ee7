"""The doctor: what is probably wrong with files of which little or nothing matches, and the fixes that mend it.

``names``, ``geometry`` and ``labels`` compare two files, ``diagnosis`` tries hypotheses, ``fixes`` spells and applies
them. A fix is chosen by the reader, never applied in silence, and is part of the signature.
"""

from evaluator.data.fixes import Fix, FixError, apply_fixes, fix_of, fixes_for, spelled

__all__ = ["Fix", "FixError", "apply_fixes", "fix_of", "fixes_for", "spelled"]
