"""The media type of a picture that the renderer made, by its first bytes."""

from typing import Final

_JPEG: Final = b"\xff\xd8"


def media_type_of(picture: bytes) -> str:
    """Of a JPEG, and of a WebP, which is all else: nothing but these two comes from the renderer."""
    return "image/jpeg" if picture.startswith(_JPEG) else "image/webp"
