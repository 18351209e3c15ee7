"""How well text can be read on its ground."""

import re


def contrast(one: str, other: str) -> float:
    """WCAG 2.2 contrast ratio of two opaque colours, as #RRGGBB or as browsers write them."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    if colour.startswith("#"):
        numbers = [float(int(colour[place : place + 2], 16)) for place in (1, 3, 5)]
    else:
        numbers = [float(each) for each in re.findall(r"[\d.]+", colour)[:3]]
    shares = [each / 255 for each in numbers]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
