"""Draw a scene: soft light, shadows on the ground, edges smoothed by drawing large and scaling down."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageOps

from simulation.demo.scenes import ABOVE, LEFT, Scene, Thing

SIDE = 512
OVERSAMPLING = 2
CANVAS = SIDE * OVERSAMPLING
SOFTNESS = 4
SOFT_CANVAS = CANVAS // SOFTNESS
# In radii: beyond this, a blur changes less than one level.
BLUR_REACH = 4

Colour = tuple[int, int, int]
Paint = int | Colour
Point = tuple[float, float]

PAINT: dict[str, Colour] = {
    "red": (214, 48, 49),
    "orange": (240, 134, 40),
    "yellow": (248, 206, 60),
    "green": (46, 160, 88),
    "blue": (44, 110, 205),
    "purple": (132, 76, 190),
    "pink": (240, 130, 176),
    "white": (240, 240, 236),
}
DARK: Colour = (52, 48, 56)
BROWN: Colour = (128, 88, 56)
GLASS: Colour = (196, 226, 240)


def _mix(colour: Colour, towards: Colour, share: float) -> Colour:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(colour, towards, strict=True))
    return red, green, blue


class Backdrop(NamedTuple):
    """Colours of the sky from top to horizon, of the ground from horizon to the front, of hills, and of sun or moon."""

    sky: tuple[str, str]
    ground: tuple[str, str]
    hills: str
    light: str


BACKDROPS = {
    "on a meadow": Backdrop(("#70b2e8", "#d6ecf6"), ("#8ebe68", "#5c9648"), "#7ab076", "#fff6c8"),
    "on a beach": Backdrop(("#5cbade", "#cef0f0"), ("#f0dcac", "#dec088"), "#4698bc", "#fff4ce"),
    "in the snow": Backdrop(("#96b0ce", "#e2eaf2"), ("#f4f8fc", "#cedcea"), "#b2c4d8", "#fffcf0"),
    "in a desert": Backdrop(("#f0a46c", "#fcdeaa"), ("#e2aa6c", "#c4824c"), "#ce8c60", "#ffeeba"),
    "under the stars": Backdrop(("#12183e", "#4a4e86"), ("#40545c", "#263642"), "#2c3658", "#eeecd6"),
}
HORIZON = 0.6


class Pen:
    """Draw in hundredths of a tile's side."""

    def __init__(self, picture: Image.Image) -> None:
        self._draw = ImageDraw.Draw(picture)
        self._unit = picture.width / 100

    def _scale(self, points: Sequence[Point]) -> list[Point]:
        return [(x * self._unit, y * self._unit) for x, y in points]

    def polygon(self, points: Sequence[Point], fill: Paint) -> None:
        self._draw.polygon(self._scale(points), fill=fill)

    def ellipse(self, left: float, top: float, right: float, bottom: float, fill: Paint) -> None:
        self._draw.ellipse(self._scale([(left, top), (right, bottom)]), fill=fill)

    def box(self, left: float, top: float, right: float, bottom: float, fill: Paint, round_by: float = 0) -> None:
        corners = self._scale([(left, top), (right, bottom)])
        self._draw.rounded_rectangle(corners, radius=round_by * self._unit, fill=fill)

    def slice(self, box: tuple[float, float, float, float], start: float, end: float, fill: Paint) -> None:
        self._draw.pieslice(self._scale([box[:2], box[2:]]), start, end, fill=fill)

    def line(self, points: Sequence[Point], fill: Paint, width: float) -> None:
        self._draw.line(self._scale(points), fill=fill, width=round(width * self._unit), joint="curve")

    def ring(self, left: float, top: float, right: float, bottom: float, fill: Paint, width: float) -> None:
        corners = self._scale([(left, top), (right, bottom)])
        self._draw.ellipse(corners, outline=fill, width=round(width * self._unit))


Part = Callable[[Pen, Paint], None]


def _nothing(pen: Pen, paint: Paint) -> None:
    """A kind without parts outside its body."""


def _ball(pen: Pen, paint: Paint) -> None:
    pen.ellipse(12, 22, 88, 98, paint)


def _balloon(pen: Pen, paint: Paint) -> None:
    pen.ellipse(20, 2, 80, 70, paint)
    pen.polygon([(50, 66), (44, 75), (56, 75)], paint)


def _balloon_string(pen: Pen, paint: Paint) -> None:
    pen.line([(50, 74), (47, 82), (53, 90), (50, 99)], DARK, 1.2)


def _box(pen: Pen, paint: Paint) -> None:
    pen.box(10, 34, 90, 99, paint, 2)


def _box_lid(pen: Pen, paint: Paint) -> None:
    pen.polygon([(10, 35), (26, 20), (99, 20), (90, 35)], _mix(_colour(paint), (255, 255, 255), 0.45))
    pen.polygon([(90, 35), (99, 20), (99, 82), (90, 98)], _mix(_colour(paint), DARK, 0.45))


def _car(pen: Pen, paint: Paint) -> None:
    pen.polygon([(22, 62), (34, 40), (68, 40), (82, 62)], paint)
    pen.box(2, 60, 98, 88, paint, 8)


def _car_parts(pen: Pen, paint: Paint) -> None:
    pen.polygon([(30, 61), (37, 45), (49, 45), (49, 61)], GLASS)
    pen.polygon([(53, 61), (53, 45), (65, 45), (74, 61)], GLASS)
    for left in (14, 64):
        pen.ellipse(left, 76, left + 23, 99, DARK)
        pen.ellipse(left + 7, 83, left + 16, 92, (200, 200, 204))


def _fish(pen: Pen, paint: Paint) -> None:
    pen.ellipse(4, 36, 76, 86, paint)
    pen.polygon([(66, 60), (98, 38), (92, 61), (98, 84)], paint)
    pen.polygon([(30, 42), (46, 22), (56, 42)], paint)


def _fish_eye(pen: Pen, paint: Paint) -> None:
    pen.ellipse(16, 50, 27, 61, (255, 255, 255))
    pen.ellipse(19, 53, 25, 59, DARK)


def _flower_stem(pen: Pen, paint: Paint) -> None:
    pen.line([(50, 50), (50, 99)], (62, 130, 64), 5)
    pen.slice((50, 66, 84, 92), 180, 340, (62, 130, 64))
    pen.slice((16, 72, 50, 98), 200, 360, (62, 130, 64))


def _flower(pen: Pen, paint: Paint) -> None:
    for x, y in ((50, 16), (70, 27), (70, 48), (50, 59), (30, 48), (30, 27)):
        pen.ellipse(x - 15, y - 15, x + 15, y + 15, paint)


def _flower_heart(pen: Pen, paint: Paint) -> None:
    pen.ellipse(38, 26, 62, 50, (116, 78, 40))


def _house(pen: Pen, paint: Paint) -> None:
    pen.box(16, 46, 84, 99, paint)


def _house_parts(pen: Pen, paint: Paint) -> None:
    pen.polygon([(6, 48), (50, 10), (94, 48)], (118, 74, 62))
    pen.box(42, 68, 60, 99, DARK, 1)
    for left in (23, 66):
        pen.box(left, 58, left + 13, 72, GLASS, 1)


def _kite(pen: Pen, paint: Paint) -> None:
    pen.polygon([(50, 4), (80, 34), (50, 76), (20, 34)], paint)


def _kite_tail(pen: Pen, paint: Paint) -> None:
    pen.line([(50, 4), (50, 76)], DARK, 1)
    pen.line([(20, 34), (80, 34)], DARK, 1)
    pen.line([(50, 76), (42, 83), (56, 90), (48, 98)], DARK, 1.6)
    for x, y in ((42, 83), (56, 90)):
        pen.polygon([(x - 5, y - 4), (x - 5, y + 4), (x + 5, y - 4), (x + 5, y + 4)], DARK)


def _mug_handle(pen: Pen, paint: Paint) -> None:
    pen.ring(60, 42, 96, 80, _mix(_colour(paint), DARK, 0.25), 7)


def _mug(pen: Pen, paint: Paint) -> None:
    pen.box(14, 28, 74, 99, paint, 8)


def _mug_rim(pen: Pen, paint: Paint) -> None:
    pen.ellipse(14, 20, 74, 38, _mix(_colour(paint), (255, 255, 255), 0.4))
    pen.ellipse(19, 23, 69, 36, (88, 58, 40))


def _mushroom_stem(pen: Pen, paint: Paint) -> None:
    pen.box(36, 48, 64, 99, (238, 226, 204), 10)


def _mushroom(pen: Pen, paint: Paint) -> None:
    pen.slice((6, 10, 94, 110), 180, 360, paint)


def _tent(pen: Pen, paint: Paint) -> None:
    pen.polygon([(2, 98), (50, 18), (98, 98)], paint)


def _tent_door(pen: Pen, paint: Paint) -> None:
    pen.polygon([(50, 44), (35, 98), (65, 98)], DARK)
    pen.line([(44, 8), (50, 18), (56, 8)], BROWN, 2)


def _umbrella_stick(pen: Pen, paint: Paint) -> None:
    pen.line([(50, 10), (50, 90)], BROWN, 3)
    pen.ring(50, 82, 66, 98, BROWN, 3)
    pen.line([(50, 4), (50, 12)], BROWN, 3)


def _umbrella(pen: Pen, paint: Paint) -> None:
    pen.slice((4, 10, 96, 104), 180, 360, paint)


def _umbrella_ribs(pen: Pen, paint: Paint) -> None:
    for left in (4, 35, 65):
        pen.line([(50, 11), (left, 57)], _mix(_colour(paint), DARK, 0.35), 1)
    pen.line([(50, 11), (96, 57)], _mix(_colour(paint), DARK, 0.35), 1)


# Kind -> parts behind its body, the body with the thing's colour and pattern, and parts in front.
FORMS: dict[str, tuple[Part, Part, Part]] = {
    "ball": (_nothing, _ball, _nothing),
    "balloon": (_balloon_string, _balloon, _nothing),
    "box": (_nothing, _box, _box_lid),
    "car": (_nothing, _car, _car_parts),
    "fish": (_nothing, _fish, _fish_eye),
    "flower": (_flower_stem, _flower, _flower_heart),
    "house": (_nothing, _house, _house_parts),
    "kite": (_nothing, _kite, _kite_tail),
    "mug": (_mug_handle, _mug, _mug_rim),
    "mushroom": (_mushroom_stem, _mushroom, _nothing),
    "tent": (_nothing, _tent, _tent_door),
    "umbrella": (_umbrella_stick, _umbrella, _umbrella_ribs),
}


def _colour(paint: Paint) -> Colour:
    return (paint, paint, paint) if isinstance(paint, int) else paint


def _paint_pattern(skin: Image.Image, pattern: str, colour: Colour) -> None:
    pen = Pen(skin)
    ink = _mix(colour, DARK, 0.75) if min(colour) > 180 else _mix(colour, (255, 255, 255), 0.78)
    if pattern == "striped":
        for start in range(-100, 100, 22):
            pen.line([(start, 100), (start + 100, 0)], ink, 7)
    if pattern == "spotted":
        for row, y in enumerate(range(6, 104, 17)):
            for x in range(6 + 9 * (row % 2), 106, 18):
                pen.ellipse(x - 4.5, y - 4.5, x + 4.5, y + 4.5, ink)


@cache
def _light() -> Image.Image:
    """Return the light on each part of a tile, at low resolution because it is soft."""
    light = Image.new("L", (64, 64), 136)
    ImageDraw.Draw(light).ellipse((6, 3, 45, 42), fill=255)
    return light.filter(ImageFilter.GaussianBlur(8))


def _shade(skin: Image.Image, body: Image.Image) -> Image.Image:
    """Return the skin lit from the upper left, darker towards the edges of the body."""
    rim = body.resize((64, 64)).filter(ImageFilter.GaussianBlur(4))
    lit = ImageChops.multiply(rim, _light()).point(lambda level: min(255, level * 3 // 2)).resize(skin.size)
    dark = Image.blend(skin, Image.new("RGB", skin.size, DARK), 0.5)
    return Image.composite(skin, dark, lit)


def _tile(thing: Thing, side: int) -> Image.Image:
    """Return one thing on a transparent square."""
    behind, body_of, front = FORMS[thing.kind]
    colour = PAINT[thing.colour]
    tile = Image.new("RGBA", (side, side))
    behind(Pen(tile), colour)
    body = Image.new("L", tile.size)
    body_of(Pen(body), 255)
    skin = Image.new("RGB", tile.size, colour)
    _paint_pattern(skin, thing.pattern, colour)
    tile.paste(_shade(skin, body), (0, 0), body)
    front(Pen(tile), colour)
    return tile


def _blur(mask: Image.Image, radius: int) -> Image.Image:
    """Blur a mask with a single non-empty area: only that area, and as far around as the blur reaches."""
    box = mask.getbbox()
    if box is None:
        return mask
    (left, top, right, bottom), reach = box, BLUR_REACH * radius
    right, bottom = min(mask.width, right + reach), min(mask.height, bottom + reach)
    place = (max(0, left - reach), max(0, top - reach), right, bottom)
    mask.paste(mask.crop(place).filter(ImageFilter.GaussianBlur(radius)), place)
    return mask


def _paint_softly(picture: Image.Image, colour: Colour | str, mask: Image.Image) -> None:
    """Paint through a mask of a quarter of the image's side, which is enough for soft shapes."""
    box = mask.getbbox()
    if box is None:
        return
    left, top, right, bottom = box
    size = ((right - left) * SOFTNESS, (bottom - top) * SOFTNESS)
    part = mask.crop(box).resize(size, Image.Resampling.BILINEAR)
    picture.paste(colour, (left * SOFTNESS, top * SOFTNESS), part)


@cache
def _gradient(colours: tuple[str, str], size: tuple[int, int]) -> Image.Image:
    return ImageOps.colorize(Image.linear_gradient("L").resize(size), colours[0], colours[1])


def _sky_light(picture: Image.Image, backdrop: Backdrop, rng: random.Random, *, night: bool) -> None:
    """Paint the sun, or the moon and stars, into the sky."""
    glow = Image.new("L", (SOFT_CANVAS, SOFT_CANVAS))
    x, y, radius = rng.randint(20, SOFT_CANVAS - 20), rng.randint(14, 34), 8
    draw = ImageDraw.Draw(glow)
    draw.ellipse((x - 2 * radius, y - 2 * radius, x + 2 * radius, y + 2 * radius), fill=150)
    glow = _blur(glow, 7)
    ImageDraw.Draw(glow).ellipse((x - radius, y - radius, x + radius, y + radius), fill=235)
    _paint_softly(picture, backdrop.light, glow)
    if night:
        pen = ImageDraw.Draw(picture)
        for _ in range(60):
            x, y = rng.randrange(CANVAS), rng.randrange(round(CANVAS * HORIZON))
            pen.ellipse((x, y, x + 4, y + 4), fill=(236, 236, 216))


def _clouds(picture: Image.Image, rng: random.Random) -> None:
    mask = Image.new("L", (SOFT_CANVAS, SOFT_CANVAS))
    draw = ImageDraw.Draw(mask)
    for _ in range(2):
        x, y = rng.randint(0, SOFT_CANVAS), rng.randint(12, SOFT_CANVAS // 2)
        for shift, size in ((-16, 9), (0, 14), (15, 10)):
            draw.ellipse((x + shift - 1.5 * size, y - size / 2, x + shift + 1.5 * size, y + size / 2), fill=130)
    _paint_softly(picture, (255, 255, 255), _blur(mask, 3))


def _backdrop(setting: str, rng: random.Random) -> Image.Image:
    backdrop = BACKDROPS[setting]
    night = setting == "under the stars"
    horizon = round(CANVAS * HORIZON)
    picture = _gradient(backdrop.sky, (CANVAS, CANVAS)).copy()
    _sky_light(picture, backdrop, rng, night=night)
    if not night:
        _clouds(picture, rng)
    draw = ImageDraw.Draw(picture)
    for _ in range(3):
        middle, width, height = rng.randrange(CANVAS), rng.randint(500, 900), rng.randint(70, 150)
        draw.ellipse((middle - width / 2, horizon - height, middle + width / 2, horizon + height), fill=backdrop.hills)
    picture.paste(_gradient(backdrop.ground, (CANVAS, CANVAS - horizon)), (0, horizon))
    return picture


@dataclass(frozen=True)
class Spot:
    """Place of a thing: the middle of its foot, in fractions of the image, and the side of its tile."""

    x: float
    foot: float
    side: float
    flies: bool = False


GROUND = 0.86
SIZE_FACTORS = {"": 1.0, "tiny": 0.5, "huge": 1.4}
# In fractions of the image: two things of one kind are beside each other, inside the image.
WIDEST_ROW = 0.54
MARGIN = 0.02


def _cast_shadow(picture: Image.Image, x: float, side: float, *, faint: bool) -> None:
    mask = Image.new("L", (SOFT_CANVAS, SOFT_CANVAS))
    middle, y, half = x * SOFT_CANVAS, GROUND * SOFT_CANVAS, side * SOFT_CANVAS / 2
    ImageDraw.Draw(mask).ellipse((middle - half, y - half / 5, middle + half, y + half / 5), fill=60 if faint else 130)
    _paint_softly(picture, (20, 24, 40), _blur(mask, 4))


def _put(picture: Image.Image, thing: Thing, spot: Spot) -> None:
    side = spot.side * SIZE_FACTORS[thing.size] * (1.0, 0.62, 0.5)[thing.count - 1]
    side = min(side, WIDEST_ROW / thing.count)
    pixels = round(side * CANVAS)
    half_row = thing.count * side / 2
    middle = min(max(spot.x, MARGIN + half_row), 1 - MARGIN - half_row)
    for number in range(thing.count):
        x = middle + (number - (thing.count - 1) / 2) * side * 1.04
        _cast_shadow(picture, x, side * 0.8, faint=spot.flies)
        tile = _tile(thing, pixels)
        picture.paste(tile, (round(x * CANVAS - pixels / 2), round(spot.foot * CANVAS - pixels)), tile)


def _spots(scene: Scene, rng: random.Random) -> tuple[Spot, Spot]:
    """Return the places of subject and other in a scene told from one side."""
    shift, grow = rng.uniform(-0.03, 0.03), rng.uniform(0.95, 1.08)
    if scene.relation == LEFT:
        side = 0.33 * grow
        return Spot(0.26 + shift, GROUND, side), Spot(0.75 + shift, GROUND, side)
    side = 0.34 * grow
    return Spot(0.5 + shift, 0.46, side, flies=True), Spot(0.5 + shift, GROUND, side)


def draw_scene(scene: Scene, *, seed: str, at: Point | None = None) -> Image.Image:
    """Return the image of a scene, 512 x 512 RGB; equal arguments give equal pixels.

    at: the middle of the subject's foot, in fractions of the image from the upper left, instead of the place given by
    the relation.
    """
    rng = random.Random(f"{seed}|{scene.setting}")  # noqa: S311 (drawings, not secrets)
    scene = scene.from_one_side()
    picture = _backdrop(scene.setting, rng)
    subject, other = _spots(scene, rng)
    if at is not None:
        subject = Spot(*at, subject.side, flies=at[1] < GROUND)
    if scene.extra is not None:
        x = rng.uniform(0.1, 0.16) if scene.relation == ABOVE else rng.uniform(0.4, 0.6)
        _put(picture, scene.extra, Spot(x, rng.uniform(0.27, 0.31), 0.2, flies=True))
    _put(picture, scene.other, other)
    _put(picture, scene.subject, subject)
    return picture.reduce(OVERSAMPLING)
