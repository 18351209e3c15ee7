"""The media type of a picture that the renderer made, by its first bytes."""

from typing import Final

_JPEG: Final = b"\xff\xd8"


def media_type_of(picture: bytes) -> str:
    """Return the media type of a JPEG or WebP; the renderer makes no other pictures."""
    return "image/jpeg" if picture.startswith(_JPEG) else "image/webp"
