"""Photographs made by code: landscapes from noise, as small JPEGs.

Sizes in pixels; every picture depends on its seed only. Figures here are the only raster content besides scans.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from sample_data.generators.canvas import Box, Canvas
from sample_data.generators.charts import noise_field
from sample_data.generators.layout import Drawing
from sample_data.generators.pdf_file import as_jpeg

QUALITY = 68
CONTAINER_COLORS = ((122, 62, 48), (58, 84, 112), (148, 112, 66), (72, 96, 84), (104, 104, 110), (134, 84, 72))
Pixels = NDArray[np.float64]


def photo(image: Image.Image) -> Drawing:
    """Return a drawing that fills its box with the image, cropped to the shape of the box."""

    def draw(canvas: Canvas, box: Box) -> None:
        ratio = (box[2] - box[0]) / (box[3] - box[1])
        wide, tall = image.size
        keep_wide, keep_tall = min(wide, round(tall * ratio)), min(tall, round(wide / ratio))
        left, top = (wide - keep_wide) // 2, (tall - keep_tall) // 2
        canvas.image(box, as_jpeg(image.crop((left, top, left + keep_wide, top + keep_tall)), QUALITY))

    return draw


def ridge_line(width: int, rng: np.random.Generator, rough: float) -> Pixels:
    """Return a mountain profile in [0, 1]: octaves of interpolated noise."""
    profile = np.zeros(width)
    for octave in range(7):
        count = 3 * 2**octave
        knots = rng.random(count + 2)
        profile += np.interp(np.linspace(0, count, width), np.arange(count + 2), knots) * rough**octave
    low, high = float(profile.min()), float(profile.max())
    return np.asarray((profile - low) / (high - low))


def _sky(size: tuple[int, int], top: Pixels, low: Pixels) -> Pixels:
    wide, tall = size
    share = np.linspace(0, 1, tall)[:, None, None] ** 1.3
    return np.ones((tall, wide, 1)) * (top * (1 - share) + low * share)


def _developed(pixels: Pixels, rng: np.random.Generator, blur: float) -> Image.Image:
    """Grain, slight blur and vignette, as a camera would leave them."""
    tall, wide, _ = pixels.shape
    y, x = np.mgrid[-1 : 1 : tall * 1j, -1 : 1 : wide * 1j]
    shaded = pixels * (1 - 0.16 * (x**2 + y**2))[:, :, None]
    noisy = np.clip(shaded + rng.normal(0, 3.2, pixels.shape), 0, 255)
    return Image.fromarray(noisy.astype(np.uint8)).filter(ImageFilter.GaussianBlur(blur))


def river_valley(seed: int, size: tuple[int, int] = (760, 420)) -> Image.Image:
    """Hills in the haze above a river that mirrors them."""
    rng = np.random.default_rng(seed)
    wide, tall = size
    pixels = _sky(size, np.array([112.0, 150.0, 188.0]), np.array([246.0, 222.0, 190.0]))
    shore = int(tall * 0.66)
    rows = np.arange(tall)[:, None]
    for layer in range(5):
        share = layer / 4
        crest = shore - (1.05 - 0.8 * share) * tall * 0.42 * (0.45 + 0.55 * ridge_line(wide, rng, 0.46 + 0.05 * layer))
        color = np.array([156.0, 172.0, 188.0]) * (1 - share) + np.array([38.0, 62.0, 52.0]) * share
        pixels[(rows >= crest[None, :]) & (rows < shore)] = color
    mirror = pixels[shore - (tall - shore) : shore][::-1]
    ripple = 1 - 0.10 * rng.random((tall - shore, 1, 1)) - 0.06 * rng.random((tall - shore, wide, 1))
    pixels[shore:] = (mirror * 0.78 + np.array([40.0, 62.0, 80.0]) * 0.22) * ripple
    return _developed(pixels, rng, 0.8)


def harvest_field(seed: int, size: tuple[int, int] = (760, 420)) -> Image.Image:
    """Rows of a field that run to the horizon under clouds."""
    rng = np.random.default_rng(seed)
    wide, tall = size
    horizon = int(tall * 0.42)
    pixels = _sky(size, np.array([96.0, 146.0, 200.0]), np.array([226.0, 234.0, 238.0]))
    cloud = noise_field((tall, wide), seed, smooth=41)
    height = np.linspace(1.0, 0.0, tall)[:, None] ** 0.4
    pixels += (np.clip((cloud - 0.42) * 2.4, 0, 1) * 110 * height)[:, :, None]
    hills = horizon - 22 * ridge_line(wide, rng, 0.42)
    pixels[np.arange(tall)[:, None] > hills[None, :]] = np.array([92.0, 118.0, 96.0])
    y, x = np.mgrid[horizon:tall, 0:wide]
    depth = (y - horizon + 3) / (tall - horizon)
    stripe = np.sin((x - wide * 0.58) / (depth * 15 + 0.6))
    light = 0.82 + 0.18 * stripe * np.clip(depth * 2.2, 0, 1) + 0.07 * rng.normal(size=x.shape) * depth
    pixels[horizon:] = np.array([196.0, 164.0, 86.0]) * light[:, :, None]
    return _developed(np.clip(pixels, 0, 255), rng, 0.7)


def harbour(seed: int, size: tuple[int, int] = (760, 420)) -> Image.Image:
    """Cranes and stacked containers behind a quay at dusk."""
    rng = np.random.default_rng(seed)
    wide, tall = size
    base = _sky(size, np.array([70.0, 92.0, 128.0]), np.array([244.0, 186.0, 140.0]))
    image = Image.fromarray(np.clip(base, 0, 255).astype(np.uint8))
    pen = ImageDraw.Draw(image)
    quay = int(tall * 0.70)
    for x in range(0, wide, 38):
        for level in range(int(rng.integers(1, 5))):
            color = CONTAINER_COLORS[int(rng.integers(0, len(CONTAINER_COLORS)))]
            pen.rectangle((x + 2, quay - 13 * (level + 1), x + 36, quay - 13 * level - 1), fill=color)
    for x in (110, 300, 520, 660):
        _crane(pen, x + int(rng.integers(-20, 20)), quay, tall)
    pixels = np.asarray(image, dtype=np.float64).copy()
    mirror = pixels[quay - (tall - quay) : quay][::-1]
    pixels[quay:] = mirror * 0.55 + np.array([26.0, 38.0, 56.0]) * (0.38 + 0.12 * rng.random((tall - quay, 1, 1)))
    pixels[quay - 3 : quay + 3] = 52.0
    return _developed(pixels, rng, 0.8)


def _crane(pen: ImageDraw.ImageDraw, x: int, quay: int, tall: int) -> None:
    """Draw the outline of a gantry crane with a raised boom."""
    dark = (34, 40, 52)
    top = quay - int(tall * 0.36)
    for leg, other in ((0, 34), (34, 0)):
        pen.line((x + leg, quay, x + leg, top), fill=dark, width=5)
        pen.line((x + leg, quay - 46, x + other, top), fill=dark, width=2)
    pen.line((x - 30, top, x + 130, top), fill=dark, width=6)
    pen.line((x + 16, top - 42, x + 16, top), fill=dark, width=4)
    for end in (130, -30):
        pen.line((x + 16, top - 42, x + end, top), fill=dark, width=2)


def school_yard(seed: int, size: tuple[int, int] = (760, 420)) -> Image.Image:
    """Return a long low building with windows and trees on dry ground."""
    rng = np.random.default_rng(seed)
    wide, tall = size
    base = _sky(size, np.array([120.0, 168.0, 214.0]), np.array([236.0, 240.0, 240.0]))
    ground = int(tall * 0.68)
    base[ground:] = np.array([190.0, 158.0, 120.0]) * (0.94 + 0.08 * rng.random((tall - ground, wide, 1)))
    image = Image.fromarray(np.clip(base, 0, 255).astype(np.uint8))
    pen = ImageDraw.Draw(image)
    pen.rectangle((120, 190, 660, ground), fill=(222, 208, 182))
    pen.polygon([(96, 192), (150, 140), (630, 140), (684, 192)], fill=(150, 74, 58))
    for x in range(150, 640, 62):
        pen.rectangle((x, 215, x + 34, 252), fill=(62, 84, 104))
        pen.line((x + 17, 215, x + 17, 252), fill=(222, 208, 182), width=2)
    for x in (62, 712):
        pen.rectangle((x - 5, 200, x + 5, ground + 8), fill=(84, 62, 46))
        for _ in range(60):
            dx, dy = rng.normal(0, 26, 2)
            shade = int(rng.integers(60, 120))
            pen.ellipse((x + dx - 13, 172 + dy - 13, x + dx + 13, 172 + dy + 13), fill=(shade // 2, shade, shade // 2))
    return _developed(np.asarray(image, dtype=np.float64), rng, 0.9)
