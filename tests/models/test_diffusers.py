"""`diffusers:` on a tiny pipeline: the images are those of the library, the same again, and checked."""

import hashlib
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import torch
from diffusers import AutoencoderKL, DDIMScheduler, StableDiffusionPipeline, UNet2DConditionModel
from PIL import Image
from transformers import CLIPTextConfig, CLIPTextModel, ViTConfig, ViTForImageClassification, ViTImageProcessor

from making.errors import CannotMake
from making.makers import LoadedMaker, MadeImage, NothingMade, Request
from making.makers.diffusers import Diffusers, is_flat
from tests.models.tiny_words import tokenizer

WORDS = ["<pad>", "<start>", "<end>", "<unk>", "a", "on", "dog", "cat", "two", "red", "birds"]
SIDE, STEPS = 64, 2
TEXT = {
    **{"hidden_size": 32, "intermediate_size": 37, "num_hidden_layers": 2, "num_attention_heads": 4},
    **{"vocab_size": len(WORDS), "max_position_embeddings": 12, "pad_token_id": 0, "bos_token_id": 1},
    "eos_token_id": 2,
}


def save_pipeline(folder: Path) -> Path:
    """Save a text-to-image pipeline of random numbers, small enough for a test."""
    torch.manual_seed(0)
    words = tokenizer(WORDS, form="<start> $A <end>")
    words.model_max_length = 12
    StableDiffusionPipeline(
        vae=AutoencoderKL(
            block_out_channels=(32, 64),
            down_block_types=("DownEncoderBlock2D",) * 2,
            up_block_types=("UpDecoderBlock2D",) * 2,
            latent_channels=4,
        ),
        text_encoder=CLIPTextModel(CLIPTextConfig(**TEXT)),
        tokenizer=words,
        unet=UNet2DConditionModel(
            block_out_channels=(32, 64),
            layers_per_block=1,
            sample_size=SIDE // 2,
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
            up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
            cross_attention_dim=32,
        ),
        scheduler=DDIMScheduler(steps_offset=1, clip_sample=False),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    ).save_pretrained(folder)
    return folder


def save_checker(folder: Path, label: str) -> Path:
    """Save a classifier of images that finds all of them to be `label`."""
    small = {"hidden_size": 32, "intermediate_size": 37, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = ViTConfig(
        **small, image_size=32, patch_size=16, id2label={0: label, 1: "other"}, label2id={label: 0, "other": 1}
    )
    model = ViTForImageClassification(config)
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.copy_(torch.tensor([1.0, 0.0]))
    model.save_pretrained(folder)
    ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_pipeline(tmp_path_factory.mktemp("models") / "tiny")


def options(checker: str = "none") -> Diffusers:
    return Diffusers(checker=checker, steps=STEPS, width=SIDE, height=SIDE)


@pytest.fixture(scope="module")
def maker(model: Path) -> LoadedMaker:
    return options().load(str(model))


def images(maker: LoadedMaker, *requests: Request) -> list[list[MadeImage]]:
    found = []
    for result in maker.make(requests):
        assert not isinstance(result, NothingMade)
        assert all(isinstance(each, MadeImage) for each in result)
        found.append([each for each in result if isinstance(each, MadeImage)])
    return found


def digests(made: list[MadeImage]) -> list[str]:
    return [hashlib.sha256(each.data).hexdigest() for each in made]


def test_the_images_are_those_that_the_library_makes_with_the_same_seeds(maker: LoadedMaker, model: Path) -> None:
    (made,) = images(maker, Request("a dog on a cat", 2, 7))
    bare = StableDiffusionPipeline.from_pretrained(model)
    bare.set_progress_bar_config(disable=True)
    expected = bare(
        prompt=["a dog on a cat"] * 2,
        negative_prompt=[""] * 2,
        num_inference_steps=STEPS,
        guidance_scale=7.5,
        width=SIDE,
        height=SIDE,
        generator=[torch.Generator().manual_seed(seed) for seed in (7, 8)],
    ).images
    for each, other in zip(made, expected, strict=True):
        image = Image.open(BytesIO(each.data))
        assert (image.format, image.size, each.prompt) == ("PNG", (SIDE, SIDE), "a dog on a cat")
        assert image.tobytes() == other.convert("RGB").tobytes()


def test_the_same_request_gives_the_same_bytes_whatever_else_is_made(maker: LoadedMaker, model: Path) -> None:
    requests = [Request("a dog", 1, 1), Request("two red birds", 1, 2)]
    together = [digests(made) for made in images(maker, *requests)]
    again = options().load(str(model))
    assert [digests(images(again, each)[0]) for each in requests] == together
    assert together[0] != together[1]
    assert digests(images(maker, Request("a dog", 1, 3))[0]) != together[0]


def test_nothing_is_made_of_an_empty_text(maker: LoadedMaker) -> None:
    assert maker.make([Request(" ", 2, 1)]) == [NothingMade("The text is empty.")]


def test_of_a_caption_of_5000_characters_the_model_reads_what_it_can_and_the_rest_goes_on(maker: LoadedMaker) -> None:
    long = "dog " * 1250
    (first,), (second,) = images(maker, Request(long, 1, 1), Request("a dog", 1, 2))
    assert (first.prompt, first.problem, second.prompt) == (long, "", "a dog")


def test_it_is_known_by_its_weights(maker: LoadedMaker, model: Path, folder: Path) -> None:
    assert maker.identity.name == f"diffusers:{model}"
    assert "diffusers 0." in maker.identity.version
    assert len(maker.identity.weights) == 64
    assert options().load(str(model)).identity == maker.identity
    other = StableDiffusionPipeline.from_pretrained(model)
    with torch.no_grad():
        next(iter(other.unet.parameters())).add_(1)
    other.save_pretrained(folder / "other")
    assert options().load(str(folder / "other")).identity.weights != maker.identity.weights


def test_another_unet_takes_the_place_of_its_own(maker: LoadedMaker, model: Path, folder: Path) -> None:
    torch.manual_seed(9)
    config = UNet2DConditionModel.load_config(model / "unet")
    UNet2DConditionModel.from_config(config).save_pretrained(folder / "dpo" / "unet")
    made = options().model_copy(update={"unet": str(folder / "dpo")}).load(str(model))
    request = Request("a dog", 1, 1)
    assert made.identity.weights != maker.identity.weights
    assert digests(images(made, request)[0]) != digests(images(maker, request)[0])


@pytest.mark.parametrize(("label", "problem"), [("NSFW", "The checker classifies the image as nsfw."), ("normal", "")])
def test_what_the_checker_calls_unsafe_is_marked(label: str, problem: str, model: Path, folder: Path) -> None:
    checked = options(str(save_checker(folder / "checker", label))).load(str(model))
    ((made,),) = images(checked, Request("a dog", 1, 1))
    assert made.problem == problem


def test_an_image_made_alone_with_its_own_seed_is_the_same(maker: LoadedMaker) -> None:
    (together,) = images(maker, Request("a dog", 2, 7))
    assert [each.seed for each in together] == [7, 8]
    (alone,) = images(maker, Request("a dog", 1, 8))
    # In a batch of another size the last bits of a number may differ.
    pixels = [np.asarray(Image.open(BytesIO(each.data)), dtype=int) for each in (together[1], alone[0])]
    assert np.abs(pixels[0] - pixels[1]).max() <= 1


def test_an_image_of_one_colour_is_flat() -> None:
    assert is_flat(Image.new("RGB", (SIDE, SIDE), "black"))
    assert not is_flat(Image.linear_gradient("L"))


@pytest.mark.parametrize("part", ["model", "checker"])
def test_a_model_that_is_not_there_is_named(part: str, model: Path, folder: Path) -> None:
    missing = str(folder / "missing")
    with pytest.raises(CannotMake, match=f"{part} {missing} cannot be loaded"):
        options(missing if part == "checker" else "none").load(missing if part == "model" else str(model))
