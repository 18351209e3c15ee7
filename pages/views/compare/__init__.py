"""What the view Compare shows of protocols that do not match boxes: pixel confusion, fields, posters."""

from typing import Final

KINDS_COMPARED: Final = ("boxes", "pixels", "fields", "posters")
