"""Find examples that would leak test data into training: those that are, or nearly are, something protected. Pure.

Protected is what a trained model may be measured on: what people answered for evaluation, released test sets, public
test sets. An example leaks if it shares one of these with something protected:

- `same image`: a file with the same SHA-256.
- `near image`: the same pixels saved again, resized, mirrored, turned by 90 degrees, in grey, brighter or darker, by
  their vectors (`training.near_images`), or a part of them (`training.near_crops`), also in a frame of one colour
  (`training.frames`).
- `same caption`: the same words, whatever their case, punctuation, white space and Unicode form.
- `near caption`: nearly the same characters, or the same words but one, in long captions but two, or in another order
  (`training.near_captions`).
- `same source`: the same instance, photo, image set or video (`training.source_ids`).

A caption says which image it is about only if it says enough, so captions of fewer than `LEAST_WORDS` words, and those
that are on more than `MOST_IMAGES` protected images, do not count. Other kinds protect their instances.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from making.texts import comparable, words_of
from predictions.image_sets.embeddings import Vectors
from predictions.image_sets.near_duplicates import NEAR_BELOW
from training.frames import may_have_frame
from training.near_captions import MOST_ALIKE, NEAR_AT_LEAST, TWO_FROM, ChangedCaptions, NearCaptions
from training.near_crops import NEAR_BELOW as MISFIT_BELOW
from training.near_crops import NearCrops, Pixels
from training.near_images import NearImages

# A change of what leaks gets the next.
VERSION = "5"
SAME_IMAGE, NEAR_IMAGE = "same image", "near image"
SAME_CAPTION, NEAR_CAPTION = "same caption", "near caption"
SAME_SOURCE = "same source"
KINDS = (SAME_IMAGE, NEAR_IMAGE, SAME_CAPTION, NEAR_CAPTION, SAME_SOURCE)
LEAST_WORDS = 6
MOST_IMAGES = 2
# Pairs of each kind that a report names.
PAIRS_NAMED = 20
_AT_ONCE = 1000

FOUND = (
    "The check finds images that were saved again, resized, mirrored, turned by 90 degrees, put into a frame of one "
    "colour, made grey, brighter or darker, or cropped to 70 % of each side or more. It finds captions with one word "
    f"or a few characters changed, or in another order, and from {TWO_FROM} words on with two words replaced."
)
NOT_FOUND = (
    "It misses images that were turned by other angles, images of which a protected one is a part, and captions in "
    "other words. "
    "It misses some images that were cropped to less, or cropped and made brighter."
)

T = TypeVar("T")
# SHA-256 of images -> their vectors of length 1; those that cannot be read are left out.
VectorsOf = Callable[[Sequence[str]], Mapping[str, Vectors]]
# SHA-256 of images -> what `small_pixels` keeps of them; those that cannot be read are left out.
PixelsOf = Callable[[Sequence[str]], Mapping[str, Pixels]]
# SHA-256 of images -> vector and pixels of what is inside their frames; those without a frame are left out.
UnframedOf = Callable[[Sequence[str]], Mapping[str, tuple[Vectors, Pixels]]]


class Alterations(Protocol):
    """Turns vectors of images, in rows, into those of the same images altered."""

    def mirrored(self, vectors: Vectors) -> Vectors: ...

    def turned(self, vectors: Vectors) -> Vectors: ...

    def levelled(self, vectors: Vectors) -> Vectors: ...

    def layout(self, vectors: Vectors) -> Vectors: ...


@dataclass(frozen=True, slots=True)
class Item:
    """A training example or something protected. `name`: what the report calls it.

    `images`: SHA-256 of their bytes. `sources`: ids of what it was made from, equal for the same thing only, such as
    `coco:219578` (`training.source_ids`) or `instance:PROJECT/KEY`. `of`: the project, release or known test set that
    it is from; captions of each may follow a template.
    """

    name: str
    captions: Sequence[str] = ()
    images: Sequence[str] = ()
    sources: Sequence[str] = ()
    of: str = ""


@dataclass(frozen=True, slots=True)
class Leak:
    """An example and what it has in common with something protected.

    `shared`: the SHA-256 of the example's image, or the id of the source; "" for captions, because reports are kept,
    and who wrote a caption may take it back. `closeness`: of near captions the similarity from 0 to 1, of near images
    the distance from 0, of parts of images how badly they fit (`near_crops.misfits`); else None.
    """

    kind: str
    example: str
    protected: str
    shared: str
    closeness: float | None = None


@dataclass(frozen=True, slots=True)
class LeakReport:
    """What a check for leaks found; an example with several kinds of leak counts in each of them.

    `examples`: how many were checked. `leaking`: how many of them leak, and were taken out. `counts`: kind -> examples.
    `pairs`: the first ones of each kind. `protected`: how many items are protected; `protected_images`: with how many
    vectors images were compared. `images_not_compared`: images of examples that have no vector, though there are some
    to compare it with; only their files were compared. `captions_too_short`, `captions_too_common`: captions of
    protected items that do not count. `captions_alike`: how many of them are a word from one about other images, in
    projects and test sets where these are so many that captions with a changed word were not looked for.
    `captions_two_alike`: the same of two words, of a sample. `protected_parts`: of how many protected images parts were
    looked for; None in reports from before that. `finds_altered`: whether altered images were found at all; None in
    reports that do not say.
    """

    examples: int
    leaking: int
    counts: Mapping[str, int]
    pairs: Sequence[Leak]
    protected: int
    protected_images: int
    images_not_compared: int
    captions_too_short: int
    captions_too_common: int
    captions_alike: int = 0
    captions_two_alike: int = 0
    protected_parts: int | None = None
    finds_altered: bool | None = None
    version: str = VERSION
    thresholds: Mapping[str, float] = field(default_factory=dict)

    @property
    def limits(self) -> Sequence[str]:
        """Sentences about what the check finds, and what it does not."""
        if self.protected_parts is None:
            return ("This run was checked by an earlier version, which finds fewer changed images and captions.",)
        # Earlier reports do not say it; with parts, altered images were found.
        finds_altered = bool(self.protected_parts) if self.finds_altered is None else self.finds_altered
        if self.protected_images and not finds_altered:
            found = ["Images were compared as they are, by file and by vector, so few altered ones were found."]
        else:
            found = [FOUND, NOT_FOUND]
        if self.captions_alike and int(self.version) < 5:
            found.append(
                f"The protected captions follow a template: {self.captions_alike:,} differ by one word from a caption "
                "of another item. So captions with a word replaced, or in another order, were not looked for."
            )
        elif self.captions_alike:
            found.append(
                f"{self.captions_alike:,} protected captions follow a template: in their project or test set, too many "
                "differ by one word from captions about other images. So captions that differ from these by a word, "
                "or are in another order, were not looked for."
            )
        if self.captions_two_alike:
            found.append(
                "Many protected captions differ by two words from captions about other images. So captions with two "
                "words replaced were not looked for."
            )
        if finds_altered and self.protected_parts < self.protected_images:
            found.append(
                f"Cropped and brighter copies were looked for of {self.protected_parts:,} of "
                f"{self.protected_images:,} protected images."
            )
        return found

    def to_plain(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return asdict(self) | {"pairs": [asdict(pair) for pair in self.pairs]}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """Return the report that `to_plain` wrote."""
        return cls(**dict(plain) | {"pairs": [Leak(**pair) for pair in plain["pairs"]]})


class Protected:
    """What is protected, ready to be compared with examples.

    images: SHA-256 of protected images, with their `vectors` in rows, of length 1. They may include images of no item,
    such as those of known test sets, by any name. `brightened`: the image of each row of `brighter`, its vectors when
    it was made brighter. `crops`: finds parts of images. `alterations`: without them, no altered images are found.
    """

    def __init__(
        self,
        items: Iterable[Item],
        *,
        images: Sequence[str] = (),
        vectors: Vectors | None = None,
        brightened: Sequence[str] = (),
        brighter: Vectors | None = None,
        crops: NearCrops | None = None,
        alterations: Alterations | None = None,
        near_below: float = NEAR_BELOW,
    ) -> None:
        self.count, self.near_below = 0, near_below
        self.by_image: dict[str, str] = {}
        self.by_source: dict[str, str] = {}
        items = list(items)
        first: dict[str, tuple[str, str]] = {}
        owners: dict[str, set[int]] = defaultdict(set)
        pictured: dict[str, set[int]] = defaultdict(set)
        for item, thing in zip(items, _things(items), strict=True):
            self.count += 1
            for image in item.images:
                self.by_image.setdefault(image, item.name)
            for source in item.sources:
                self.by_source.setdefault(source, item.name)
            for caption in item.captions:
                words = comparable(caption)
                first.setdefault(words, (item.name, item.of))
                owners[words].add(thing)
                if item.images or item.sources:
                    pictured[words].add(thing)
        short = {words for words in first if len(words.split()) < LEAST_WORDS}
        common = {words for words in first if len(pictured[words]) > MOST_IMAGES} - short
        self.captions_too_short, self.captions_too_common = len(short), len(common)
        self._captions = [words for words in first if words not in short | common]
        self.by_caption = {words: first[words][0] for words in self._captions}
        self._near_captions = NearCaptions(self._captions)
        self._changed_captions = ChangedCaptions(
            self._captions, [owners[words] for words in self._captions], [first[words][1] for words in self._captions]
        )
        self._images = list(images)
        self._alterations, self._crops = alterations, crops
        self._as_is: list[tuple[Sequence[str], NearImages]] = []
        self._levelled: list[tuple[Sequence[str], NearImages]] = []
        if vectors is not None:
            self._as_is.append((self._images, NearImages(vectors, below=near_below)))
        if alterations is not None:
            for names, rows in ((self._images, vectors), (list(brightened), brighter)):
                if rows is not None:
                    levelled = alterations.levelled(rows.astype(np.float32))
                    self._levelled.append((names, NearImages(levelled, below=near_below)))

    @property
    def compared_images(self) -> int:
        return len(self._images)

    @property
    def compared_parts(self) -> int:
        return 0 if self._crops is None else len(self._crops)

    @property
    def captions_alike(self) -> int:
        """How many captions are a word from one about another thing, in sets where these are too many to look for."""
        return self._changed_captions.alike

    @property
    def captions_two_alike(self) -> int:
        """The same of two words, of a sample."""
        return self._changed_captions.two_alike

    @property
    def finds_altered_images(self) -> bool:
        return self._alterations is not None

    def near_captions(self, captions: Sequence[str]) -> dict[int, tuple[float, str]]:
        """Return place of a caption -> similarity to the nearest protected one and the item of that; only near ones."""
        found = self._changed_captions.nearest(captions) | self._near_captions.nearest(captions)
        return {
            place: (similarity, self.by_caption[self._captions[other]]) for place, (similarity, other) in found.items()
        }

    def near_images(
        self, names: Sequence[str], vectors: Vectors, pixels_of: PixelsOf | None = None
    ) -> dict[int, tuple[float, str]]:
        """Return place of an image -> distance from the nearest protected one and its item; only near ones.

        names: of the images. `pixels_of`: without it, no parts are looked for.
        """
        found: dict[int, tuple[float, str]] = {}
        for own, index, compared in self._comparisons(vectors):
            for place, (distance, other) in index.nearest(compared).items():
                if place not in found or distance < found[place][0]:
                    found[place] = (distance, own[other])
        if pixels_of is not None:
            rest = [place for place in range(len(names)) if place not in found]
            parts = self._parts([names[place] for place in rest], vectors[rest], pixels_of)
            found |= {rest[place]: part for place, part in parts.items()}
        return {place: (distance, self.by_image.get(name, name)) for place, (distance, name) in found.items()}

    def _comparisons(self, vectors: Vectors) -> Iterator[tuple[Sequence[str], NearImages, Vectors]]:
        """Yield the indexes with what is looked up in each: vectors as they are, mirrored, turned, and levelled."""
        alterations = self._alterations
        both = [vectors] if alterations is None else [vectors, alterations.mirrored(vectors)]
        for each in both:
            yield from ((names, index, each) for names, index in self._as_is)
            if alterations is None:
                continue
            levelled = alterations.levelled(each)
            yield from ((names, index, levelled) for names, index in self._levelled)
            # By 90, 180 and 270 degrees. Of images made brighter, only those upright are looked for.
            for _ in range(3):
                levelled = alterations.turned(levelled)
                yield from ((names, index, levelled) for names, index in self._levelled[:1])

    def _parts(self, names: Sequence[str], vectors: Vectors, pixels_of: PixelsOf) -> dict[int, tuple[float, str]]:
        """Return place of an image that shows a part of a protected one -> how badly it fits, and which one."""
        alterations, crops = self._alterations, self._crops
        if alterations is None or crops is None or not names:
            return {}
        found: dict[int, tuple[float, str]] = {}
        straight = crops.candidates(alterations.layout(vectors))
        mirrored = crops.candidates(alterations.layout(alterations.mirrored(vectors)))
        pixels = pixels_of([names[place] for place in straight.keys() | mirrored.keys()])
        for candidates, across in ((straight, slice(None)), (mirrored, slice(None, None, -1))):
            for place, some in candidates.items():
                if place not in found and names[place] in pixels:
                    nearest = crops.nearest(pixels[names[place]][:, across], some)
                    if nearest is not None:
                        found[place] = nearest
        return found


def _things(items: Sequence[Item]) -> Sequence[int]:
    """Return, for each item, the number of the thing that it is about.

    Items are about one thing if they share an image or a source, directly or through others: the rows of one photo in a
    test set, for instance, or an instance and its row of a release.
    """
    # Imported here, because SciPy's graphs load more than the pages of the site need.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    numbers: dict[str, int] = {}
    shared = [
        (row, numbers.setdefault(each, len(numbers)))
        for row, item in enumerate(items)
        for each in (*item.images, *item.sources)
    ]
    rows, columns = [row for row, _ in shared], [len(items) + column for _, column in shared]
    size = len(items) + len(numbers)
    graph = coo_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(size, size))
    things: list[int] = connected_components(graph, directed=False)[1][: len(items)].tolist()
    return things


class LeakCheck:
    """Checks examples as they come, and takes out those that leak.

    `vectors_of`: the vectors of the examples' images, in the embedding of the protected ones; without it, only files
    are compared. `pixels_of`: their pixels; without it, no parts of protected images are found. `unframed_of`: what is
    inside their frames; without it, no framed ones are found.
    """

    def __init__(
        self,
        protected: Protected,
        *,
        vectors_of: VectorsOf | None = None,
        pixels_of: PixelsOf | None = None,
        unframed_of: UnframedOf | None = None,
    ) -> None:
        self._protected, self._vectors_of, self._pixels_of = protected, vectors_of, pixels_of
        self._unframed_of = unframed_of
        self._examples = self._leaking = 0
        self._counts: Counter[str] = Counter()
        self._pairs: dict[str, list[Leak]] = {kind: [] for kind in KINDS}
        self._not_compared: set[str] = set()

    def without_leaks(self, examples: Iterable[T], item_of: Callable[[T], Item]) -> Iterator[T]:
        """Yield the examples that do not leak, in their order. `item_of` tells what is compared of each."""
        waiting = iter(examples)
        while some := list(islice(waiting, _AT_ONCE)):
            found = self._leaks([item_of(each) for each in some])
            yield from (each for each, leaks in zip(some, found, strict=True) if not leaks)

    def report(self) -> LeakReport:
        """Return what was found so far."""
        protected = self._protected
        return LeakReport(
            examples=self._examples,
            leaking=self._leaking,
            counts={kind: self._counts[kind] for kind in KINDS},
            pairs=[pair for kind in KINDS for pair in self._pairs[kind]],
            protected=protected.count,
            protected_images=protected.compared_images,
            images_not_compared=len(self._not_compared),
            captions_too_short=protected.captions_too_short,
            captions_too_common=protected.captions_too_common,
            captions_alike=protected.captions_alike,
            captions_two_alike=protected.captions_two_alike,
            protected_parts=protected.compared_parts,
            finds_altered=protected.finds_altered_images,
            thresholds={
                "near caption at least": NEAR_AT_LEAST,
                "captions alike at most": MOST_ALIKE,
                "near image below": protected.near_below,
                "misfit of a part below": MISFIT_BELOW,
                "least words": LEAST_WORDS,
                "most images of a caption": MOST_IMAGES,
            },
        )

    def _leaks(self, items: Sequence[Item]) -> list[Mapping[str, Leak]]:
        """Return for each item its first leak of each kind."""
        found: list[dict[str, Leak]] = [_same(item, self._protected) for item in items]
        for place, leak in (*self._near_captions(items), *self._near_images(items)):
            found[place].setdefault(leak.kind, leak)
        self._examples += len(items)
        for leaks in found:
            self._leaking += bool(leaks)
            for kind, leak in leaks.items():
                self._counts[kind] += 1
                if len(self._pairs[kind]) < PAIRS_NAMED:
                    self._pairs[kind].append(leak)
        return list(found)

    def _near_captions(self, items: Sequence[Item]) -> Iterator[tuple[int, Leak]]:
        known = self._protected.by_caption
        places: dict[str, list[int]] = defaultdict(list)
        for place, item in enumerate(items):
            for caption in item.captions:
                if len(words_of(caption)) >= LEAST_WORDS and comparable(caption) not in known:
                    places[caption].append(place)
        captions = list(places)
        for number, (similarity, name) in self._protected.near_captions(captions).items():
            for place in places[captions[number]]:
                yield place, Leak(NEAR_CAPTION, items[place].name, name, "", similarity)

    def _near_images(self, items: Sequence[Item]) -> Iterator[tuple[int, Leak]]:
        places: dict[str, list[int]] = defaultdict(list)
        for place, item in enumerate(items):
            for image in item.images:
                if image not in self._protected.by_image:
                    places[image].append(place)
        if not self._protected.compared_images:
            return
        vectors = self._vectors_of(list(places)) if self._vectors_of is not None and places else {}
        self._not_compared.update(places.keys() - vectors.keys())
        if not vectors:
            return
        names = list(vectors)
        rows = np.stack(list(vectors.values()))
        near = self._protected.near_images(names, rows, self._pixels_of)
        found = {names[number]: each for number, each in near.items()}
        for name, (distance, protected) in (found | self._in_frames(names, rows, found)).items():
            for place in places[name]:
                yield place, Leak(NEAR_IMAGE, items[place].name, protected, name, distance)

    def _in_frames(
        self, names: Sequence[str], vectors: Vectors, found: Collection[str]
    ) -> dict[str, tuple[float, str]]:
        """Return images whose inside is near a protected image -> distance and item; not of those that are found."""
        if self._unframed_of is None or not self._protected.finds_altered_images:
            return {}
        framed = np.flatnonzero(may_have_frame(vectors)).tolist()
        insides = self._unframed_of([names[number] for number in framed if names[number] not in found])
        if not insides:
            return {}
        own, rows = list(insides), np.stack([vector for vector, _ in insides.values()])
        pixels = {name: each for name, (_, each) in insides.items()}
        near = self._protected.near_images(own, rows, lambda some: {name: pixels[name] for name in some})
        return {own[number]: each for number, each in near.items()}


def find_leaks(examples: Iterable[Item], protected: Protected, *, vectors_of: VectorsOf | None = None) -> LeakReport:
    """Check all `examples`, and return what was found."""
    check = LeakCheck(protected, vectors_of=vectors_of)
    for _ in check.without_leaks(examples, lambda item: item):
        pass
    return check.report()


def _same(item: Item, protected: Protected) -> dict[str, Leak]:
    """Return the first leak of each kind that is an equal image, caption or source."""
    compared = (
        (SAME_IMAGE, ((image, image) for image in item.images), protected.by_image),
        (SAME_CAPTION, (("", comparable(caption)) for caption in item.captions), protected.by_caption),
        (SAME_SOURCE, ((source, source) for source in item.sources), protected.by_source),
    )
    found = (
        next((Leak(kind, item.name, known[key], shared) for shared, key in pairs if key in known), None)
        for kind, pairs, known in compared
    )
    return {leak.kind: leak for leak in found if leak is not None}
