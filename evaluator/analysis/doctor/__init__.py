"""The doctor: what is probably wrong with files of which little or nothing matches, and the fixes that mend it.

`geometry` compares two files, `diagnosis` tries hypotheses, `match_check` applies fixes and refuses what does not
match. A fix is chosen by the reader, never applied in silence, and is part of the signature.
"""
