"""`vqascore:` on tiny models: it says how probable the library makes the answer "Yes", asked in one piece."""

import json
from copy import copy
from math import exp, log1p
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from transformers import (
    AutoModelForImageTextToText,
    AutoProcessor,
    CLIPImageProcessor,
    CLIPVisionConfig,
    CLIPVisionModel,
    GemmaConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PaliGemmaConfig,
    PaliGemmaForConditionalGeneration,
    PaliGemmaProcessor,
    PreTrainedTokenizerFast,
    Qwen2VLConfig,
    Qwen2VLForConditionalGeneration,
    Qwen2VLImageProcessor,
    Qwen2VLProcessor,
    Qwen2VLVideoProcessor,
    SiglipImageProcessor,
    SiglipVisionConfig,
    T5Config,
    T5ForConditionalGeneration,
)

from predictions.scorers import CannotLoad, NoPicture, scorer_of
from predictions.scorers.clip_t5 import ClipT5
from predictions.scorers.vqascore import VqaScore
from tests.models.tiny_words import tokenizer

SPECIAL = ["<pad>", "<start>", "<end>", "<unk>", "<image>"]
QWEN_SPECIAL = [f"<|{name}|>" for name in ("vision_start", "image_pad", "vision_end", "video_pad")]
WORDS = [
    *["Does", "this", "figure", "show", '"', '"?', "Please", "answer", "yes", "or", "no", ".", "USER", "ASSISTANT"],
    *[":", "Yes", "No", "Answer", "a", "an", "on", "dog", "cat", "two", "red", "birds", "under", "the", "grey"],
    *["wall", "<", "image", ">", ">.", ":<"],
]
# PICTURE: what marks its place.
TEMPLATE = (
    "{% for said in messages %}{% if said.role == 'user' %}USER: {% for part in said.content %}"
    "{% if part.type == 'image' %}PICTURE\n{% else %}{{ part.text }}{% endif %}{% endfor %}"
    "{% else %} ASSISTANT: {{ said.content[0].text }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %} ASSISTANT:{% endif %}"
)
# The second is longer than what a batch is filled up to for the first, and the third is the first again in other words.
TEXTS = ["a dog on a cat", "two red birds under the cat on the dog " * 4, "a cat on a dog"]
# The library computes in one piece, of another shape: of numbers of 24 bits the last ones differ.
ROUNDING = 1e-4


def words(form: str = "<start> $A") -> PreTrainedTokenizerFast:
    return tokenizer(SPECIAL + WORDS + QWEN_SPECIAL, form=form, marks=["<image>", *QWEN_SPECIAL])


TEXT = {
    **{"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2},
    **{"num_key_value_heads": 1, "vocab_size": len(SPECIAL + WORDS + QWEN_SPECIAL), "max_position_embeddings": 512},
    **{"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "initializer_range": 0.5},
}
VISION = {
    **{"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2},
    **{"image_size": 32, "patch_size": 8, "initializer_range": 0.5},
}


def save_llava(folder: Path) -> Path:
    """Save a tiny LLaVA, which reads from left to right."""
    torch.manual_seed(1)
    config = LlavaConfig(
        text_config=LlamaConfig(**TEXT), vision_config=CLIPVisionConfig(**VISION), image_token_index=4, image_token_id=4
    )
    LlavaForConditionalGeneration(config).save_pretrained(folder)
    process = CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
    kept = {"patch_size": 8, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1}
    template = TEMPLATE.replace("PICTURE", "<image>")
    LlavaProcessor(process, words(), chat_template=template, **kept).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def llava(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_llava(tmp_path_factory.mktemp("llava") / "tiny-llava")


@pytest.fixture(scope="module")
def qwen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save a tiny Qwen2-VL: it takes pictures of any shape, and counts places in three directions."""
    folder = tmp_path_factory.mktemp("qwen") / "tiny-qwen"
    torch.manual_seed(1)
    start, picture, end, video = (len(SPECIAL + WORDS) + place for place in range(len(QWEN_SPECIAL)))
    rope = {"rope_type": "default", "rope_theta": 10_000.0, "mrope_section": [2, 3, 3]}
    config = Qwen2VLConfig(
        text_config=TEXT | {"rope_parameters": rope},
        vision_config={"depth": 2, "embed_dim": 32, "hidden_size": 32, "num_heads": 2, "mlp_ratio": 2},
        image_token_id=picture,
        video_token_id=video,
        vision_start_token_id=start,
        vision_end_token_id=end,
    )
    Qwen2VLForConditionalGeneration(config).save_pretrained(folder)
    process = Qwen2VLImageProcessor(min_pixels=4 * 28 * 28, max_pixels=20 * 28 * 28)
    template = TEMPLATE.replace("PICTURE", "".join(QWEN_SPECIAL[:3]))
    Qwen2VLProcessor(process, words(), Qwen2VLVideoProcessor(), chat_template=template).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def paligemma(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save a tiny PaliGemma, in which each place reads all others up to the answer; it has no template."""
    folder = tmp_path_factory.mktemp("paligemma") / "tiny-paligemma"
    torch.manual_seed(1)
    vision = SiglipVisionConfig(**VISION, projection_dim=32)
    config = PaliGemmaConfig(
        text_config=GemmaConfig(**TEXT, head_dim=16), vision_config=vision, image_token_index=4, projection_dim=32
    )
    PaliGemmaForConditionalGeneration(config).save_pretrained(folder)
    process = SiglipImageProcessor(size={"height": 32, "width": 32})
    process.image_seq_length = (VISION["image_size"] // VISION["patch_size"]) ** 2
    PaliGemmaProcessor(process, words()).save_pretrained(folder)
    return folder


def probabilities(folder: Path, pictures: dict[str, Image.Image]) -> dict[tuple[str, str], float]:
    """Return how probable the library's own `forward` makes "Yes", one text and picture at a time, its template read by
    the library too."""
    model, processor = AutoModelForImageTextToText.from_pretrained(folder).eval(), AutoProcessor.from_pretrained(folder)
    found = {}
    for text in TEXTS:
        question = f'Does this figure show "{text}"? Please answer yes or no.'
        for name, image in pictures.items():
            content = [{"type": "image", "image": image}, {"type": "text", "text": question}]
            read: Any = processor.apply_chat_template(
                [{"role": "user", "content": content}],
                **{"add_generation_prompt": True, "tokenize": True, "return_dict": True, "return_tensors": "pt"},
            )
            with torch.no_grad():
                probable = model(**read).logits[0, -1].double().softmax(0)
            found[text, name] = float(probable[processor.tokenizer.convert_tokens_to_ids("Yes")])
    return found


def load(folder: Path) -> VqaScore:
    scorer = scorer_of(f"vqascore:{folder}")
    assert isinstance(scorer, VqaScore)
    return scorer


@pytest.mark.parametrize("name", ["llava", "qwen"])
def test_a_score_is_the_log_odds_of_the_librarys_probability_of_yes(
    name: str, request: pytest.FixtureRequest, pictures: dict[str, Image.Image]
) -> None:
    folder = request.getfixturevalue(name)
    expected = probabilities(folder, pictures)
    assert max(expected.values()) > 2 * min(expected.values())
    scorer = load(folder)
    assert scorer.conditions()["looks_once"] is True
    for probability, score in zip(expected.values(), scorer.score(list(expected), pictures.__getitem__), strict=True):
        assert not isinstance(score, NoPicture)
        assert 1 / (1 + exp(-score)) == pytest.approx(probability, rel=ROUNDING)


def test_a_model_that_reads_a_picture_together_with_the_question_is_shown_it_with_each(
    paligemma: Path, pictures: dict[str, Image.Image]
) -> None:
    model = AutoModelForImageTextToText.from_pretrained(paligemma).eval()
    processor = AutoProcessor.from_pretrained(paligemma)
    yes = processor.tokenizer.convert_tokens_to_ids("Yes")
    scorer = load(paligemma)
    assert scorer.conditions()["looks_once"] is False
    pairs = [(text, name) for text in TEXTS for name in pictures]
    for (text, name), score in zip(pairs, scorer.score(pairs, pictures.__getitem__), strict=True):
        prompt = f'<image>\nDoes this figure show "{text}"? Please answer yes or no.\nAnswer:'
        with torch.no_grad():
            logits = model(**processor(text=prompt, images=pictures[name], return_tensors="pt")).logits[0, -1]
        assert not isinstance(score, NoPicture)
        assert 1 / (1 + exp(-score)) == pytest.approx(float(logits.double().softmax(0)[yes]), rel=ROUNDING)


def test_a_picture_is_looked_at_once_for_all_its_texts(llava: Path, pictures: dict[str, Image.Image]) -> None:
    scorer, looked = load(llava), []
    scorer.model.model.vision_tower.register_forward_hook(lambda *_: looked.append(1))
    pairs = [(f"{text} {number}", name) for text in TEXTS for number in ("two", "a", "red") for name in pictures]
    scores = scorer.score(pairs, pictures.__getitem__)
    assert len(looked) == len(pictures)
    assert len(set(scores)) > len(pairs) / 2


def test_what_a_text_says_is_never_taken_for_a_picture_or_the_end(
    llava: Path, pictures: dict[str, Image.Image]
) -> None:
    """Nor does its length push the question out."""
    texts = ["a <image> on a <end>", "a < image> on a < end>", "two red birds " * 200, "two red birds " * 300]
    marked, torn, long, longer = load(llava).score([(text, "picture-0") for text in texts], pictures.__getitem__)
    assert marked == torn
    assert long == longer


def test_it_says_what_is_asked(llava: Path) -> None:
    scorer = load(llava)
    assert (scorer.identity.name, scorer.identity.version) == ("tiny-llava", "")
    conditions = scorer.conditions()
    assert (conditions["batch"], conditions["answer"]) == (4, "Yes")
    assert conditions["prompt"] == (
        'USER: <image>\nDoes this figure show "{text}"? Please answer yes or no. ASSISTANT:'
    )


def test_what_cannot_be_asked_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(CannotLoad, match=r"no-such-model cannot be loaded .*a folder on the worker's machine\.$"):
        scorer_of("vqascore:nobody/no-such-model")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "t5", "is_encoder_decoder": True}))
    with pytest.raises(CannotLoad, match=r"is an unsupported encoder-decoder model\. Use CLIP-FlanT5 or"):
        scorer_of(f"vqascore:{tmp_path}")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama"}))
    with pytest.raises(CannotLoad, match="cannot be loaded"):
        scorer_of(f"vqascore:{tmp_path}")


@pytest.mark.parametrize("numbers", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", ["llava", "qwen"])
def test_weights_that_are_published_in_16_bits_are_kept_so_and_every_score_stays_the_same(
    name: str, numbers: str, request: pytest.FixtureRequest, tmp_path: Path, pictures: dict[str, Image.Image]
) -> None:
    folder = request.getfixturevalue(name)
    published, whole = tmp_path / "published" / "tiny", tmp_path / "whole" / "tiny"
    model = AutoModelForImageTextToText.from_pretrained(folder).to(getattr(torch, numbers))
    model.save_pretrained(published)
    model.float().save_pretrained(whole)
    for place in (published, whole):
        AutoProcessor.from_pretrained(folder).save_pretrained(place)
    pairs = [(text, name) for text in TEXTS for name in pictures]
    scorer = load(published)
    # The same numbers are the same model, however they are stored.
    assert scorer.identity == load(whole).identity
    assert scorer.conditions()["dtype"] == "float32"
    exact, loose = scorer.score(pairs, pictures.__getitem__), copy(scorer)
    loose.half = "bfloat16"
    rounded, before = loose.score(pairs, pictures.__getitem__), bytes_of(scorer.model)
    assert rounded != exact
    # The tiny models are on the CPU, where memory is kept only if it is asked for.
    half = scorer.in_half("bfloat16")
    assert half is not None
    # Half of it but for what cuts a picture into patches, of which such a small model has much.
    assert bytes_of(scorer.model) < 0.75 * before
    assert scorer.score(pairs, pictures.__getitem__) == exact
    assert half.score(pairs, pictures.__getitem__) == rounded
    assert [(each.conditions()["dtype"], each.conditions()["weights"]) for each in (scorer, half)] == [
        ("float32", numbers),
        ("bfloat16", numbers),
    ]


def bytes_of(model: torch.nn.Module) -> int:
    """Return how many bytes the numbers of a model take, one that two layers share counted once."""
    tensors = [*model.parameters(), *(kept for layer in model.modules() for kept in getattr(layer, "kept", ()))]
    return sum(each.numel() * each.element_size() for each in {id(each): each for each in tensors}.values())


def save_clip_t5(folder: Path) -> Path:
    """Save a tiny CLIP-FlanT5 as its authors' checkpoint is: layers of the vision tower under their older names."""
    tower = folder.parent / "tower"
    torch.manual_seed(1)
    vision = CLIPVisionConfig(**VISION)
    vision.save_pretrained(tower)
    CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}).save_pretrained(tower)
    words("$A <end>").save_pretrained(folder)
    config = T5Config(
        **{"d_model": 24, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_decoder_layers": 2, "num_heads": 2},
        **{"vocab_size": TEXT["vocab_size"], "pad_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 0},
    )
    language, clip = T5ForConditionalGeneration(config), CLIPVisionModel(vision)
    project = torch.nn.Sequential(torch.nn.Linear(32, 24), torch.nn.GELU(), torch.nn.Linear(24, 24))
    state = dict(language.state_dict())
    state |= {f"vision_tower.vision_tower.vision_model.{name}": tensor for name, tensor in clip.state_dict().items()}
    state |= {f"mm_projector.{name}": tensor for name, tensor in project.state_dict().items()}
    torch.save(state, folder / "pytorch_model.bin")
    said = config.to_dict() | {"model_type": "clip_t5", "architectures": ["CLIPT5ForConditionalGeneration"]}
    said |= {"mm_vision_tower": str(tower), "mm_hidden_size": 32, "mm_projector_type": "mlp2x_gelu"}
    (folder / "config.json").write_text(json.dumps(said | {"mm_vision_select_layer": -2}))
    return folder


def t5_score(scorer: ClipT5, text: str, picture: Image.Image) -> float:
    """Return the mean log-probability of "Yes" and its end, asked as the authors do: their score is its exp."""
    model, words, processor = scorer.model, scorer.tokenizer, scorer.preprocessing.processor
    side = max(picture.size)
    square = Image.new("RGB", (side, side), tuple(int(255 * mean) for mean in processor.image_mean))
    square.paste(picture, ((side - picture.width) // 2, (side - picture.height) // 2))
    pixels = processor(square, return_tensors="pt")["pixel_values"]
    with torch.inference_mode():
        states = model.vision_tower["vision_tower"](pixels, output_hidden_states=True).hidden_states[-2]
        seen = model.mm_projector(states[:, 1:])
        question = f'Does this figure show "{text}"? Please answer yes or no.'
        system = "A chat between a curious user and an artificial intelligence assistant. The assistant gives helpful, "
        system += "detailed, and polite answers to the user's questions. USER: "
        before, behind = (words(part, return_tensors="pt").input_ids for part in (system, f"\n{question} ASSISTANT: "))
        read = torch.cat([model.shared(before), seen, model.shared(behind)], dim=1)
        labels = words("Yes", return_tensors="pt").input_ids
        assert labels.shape == (1, 2)
        loss = model(inputs_embeds=read, labels=labels).loss
    return -float(loss)


def test_clip_flant5_says_how_probable_the_answer_and_its_end_are(
    tmp_path: Path, pictures: dict[str, Image.Image]
) -> None:
    saved = save_clip_t5(tmp_path / "tiny-clip-t5")
    scorer = scorer_of(f"vqascore:{saved}")
    assert isinstance(scorer, ClipT5)
    pairs = [(text, name) for text in TEXTS for name in pictures]
    scores = scorer.score(pairs, pictures.__getitem__)
    expected = [t5_score(scorer, text, pictures[name]) for text, name in pairs]
    # The log of p from ln(p / (1 - p)).
    found = [-log1p(exp(-score)) for score in scores if isinstance(score, float)]
    assert found == pytest.approx(expected, abs=ROUNDING)
    assert len({round(value, 2) for value in expected}) > len(pictures)
    conditions = scorer.conditions()
    assert (conditions["scorer"], conditions["answer"]) == ("vqascore clip_t5", ["Yes", "<end>"])
    # Without its vision tower it is refused.
    state = torch.load(saved / "pytorch_model.bin")
    kept = {name: each for name, each in state.items() if "vision_tower" not in name}
    torch.save(kept, saved / "pytorch_model.bin")
    with pytest.raises(CannotLoad, match=r"lacks required weights .* complete model, with its vision tower"):
        scorer_of(f"vqascore:{saved}")
