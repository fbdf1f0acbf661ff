"""Tables of SugarCrepe (Hsieh et al. 2023)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from evaluation.protocols import get_protocol
from evaluation.protocols.sugarcrepe import MANIFEST
from simulation.replay.papers.base import ANSWERS, WEIGHTS, PaperRow, PaperTable, others, percent

PAPER = "SugarCrepe (Hsieh et al. 2023)"
SUBTYPES = ("replace_obj", "replace_att", "replace_rel", "swap_obj", "swap_att", "add_obj", "add_att")
TYPES = ("replace", "swap", "add")
# Items of each subtype: the denominators in gpt-4v-results/readme.md.
SIZES = "1652 788 1406 246 666 2062 692"
GPT_4V = "97.09 93.91 92.32 80.49 89.04 93.02 96.24"
GPT_4V_POSITIVE_FIRST = "95.52 93.15 88.19 85.77 91.14 90.16 87.28"
PRETRAINED = "90.92 80.08 69.20 61.38 63.96 77.21 68.79"
HUMANS = "100 99 97 99 100 99 99"
REPOSITORY = "RAIVNLab/sugar-crepe"


def tables(folder: Path) -> Iterator[PaperTable]:
    own, manifest = folder / "sugarcrepe", folder / "bivlc"
    sizes: dict[str, str] = {}
    if all((own / f"{name}.json").is_file() for name in SUBTYPES):
        counts = Counter(f"{one.type}_{one.subtype}" for one in get_protocol("sugarcrepe").read(own).described)
        sizes = {name: str(counts[name]) for name in SUBTYPES}
    answered = {
        order: _percents(manifest, own / f"gpt-4v-{order}", f"Micro, {order}")
        for order in ("negative-first", "positive-first")
    }
    pretrained = _percents(manifest, manifest / "results/SUGARCREPE_CORRECT_ViT-B-32.csv", "Micro")
    row = PaperRow("Items", _figures(SUBTYPES, SIZES), sizes, "" if sizes else "needs the data")
    notes = ["The released swap_obj.json has one item less today; BiVLC's manifest, which is used below, has them all."]
    source = f"denominators in gpt-4v-results/readme.md of {REPOSITORY}"
    yield PaperTable(PAPER, "Items by type of hard negative", source, [row], notes)
    computed = {name: pretrained[name] for name in SUBTYPES if name in pretrained}
    rows = [
        PaperRow("Human", _figures(SUBTYPES, HUMANS), needs=ANSWERS),
        PaperRow("Vera, Grammar", needs="needs their weights"),
        PaperRow("ViT-B-32 of OpenAI", _figures(SUBTYPES, PRETRAINED), computed, "" if computed else WEIGHTS),
        PaperRow("16 other CLIP models", needs=WEIGHTS),
    ]
    source = f"assets/sugarcrepe_eval.png in {REPOSITORY}"
    yield PaperTable(PAPER, "17 pretrained CLIP models", source, rows)
    computed = {name: pretrained[name] for name in TYPES if name in pretrained}
    published = {"replace": "80.76", "swap": "63.27", "add": "75.09"}
    rows = [
        PaperRow("Pretrained ViT-B/32", published, computed, "" if computed else WEIGHTS),
        PaperRow("CLIP and NegCLIP trained by the authors", needs=WEIGHTS),
    ]
    yield PaperTable(PAPER, "NegCLIP evaluated again", f"assets/re_eval.png in {REPOSITORY}", rows)
    rows = [
        _gpt_4v("negative first", GPT_4V, answered["negative-first"]),
        _gpt_4v("positive first", GPT_4V_POSITIVE_FIRST, answered["positive-first"]),
    ]
    source = f"gpt-4v-results/readme.md of {REPOSITORY}, as percentages"
    yield PaperTable(PAPER, "GPT-4V (in the repository, after the paper)", source, rows)
    needs = "needs texts and photos of those benchmarks, and weights of Vera, the grammar model and CLIP models"
    rows = [PaperRow("Blind models against vision-language models", needs=needs)]
    yield PaperTable(PAPER, "Earlier benchmarks", "abstract of the paper", rows)
    yield others(PAPER, "All others")


def _gpt_4v(order: str, published: str, found: Mapping[str, str]) -> PaperRow:
    computed = {name: found[name] for name in SUBTYPES if name in found}
    return PaperRow(
        f"GPT-4V ({order})", _figures(SUBTYPES, published), computed, "" if computed else "needs its answers"
    )


def _percents(manifest: Path, results: Path, cell: str) -> dict[str, str]:
    """Return the accuracy by type and by subtype, from results about the items of BiVLC's manifest; {} without."""
    protocol = get_protocol("sugarcrepe")
    if not results.exists() or not (manifest / MANIFEST).is_file():
        return {}
    data = protocol.read(manifest)
    parts = protocol.tables(data, protocol.read_published(data, results)).parts
    return {part.title: percent(part, cell) for part in parts}


def _figures(names: Sequence[str], text: str) -> dict[str, str]:
    return dict(zip(names, text.split(), strict=True))
