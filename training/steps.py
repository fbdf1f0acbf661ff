"""One step: losses, gradients, and new parameters. A batch that does not fit is computed in parts. Pure.

Importing this module does not import torch.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import isfinite
from typing import Any

from predictions.scorers.base import OutOfMemory
from predictions.scorers.torch_models import report_short_memory, usual_batch
from training.batches import TOO_SMALL, LoadedBatch, embed_rows
from training.errors import CannotTrain
from training.processes import Processes
from training.recipes.base import Recipe, Trainable

TOTAL = "loss"


class Stepper:
    """Trains a model step by step. `parts`: in how many a batch is embedded.

    With several parts, each is embedded twice: for the loss, which is of the whole batch as it must be for contrastive
    losses, and again for its gradients, so that the memory holds what one part needs. That is OpenCLIP's accumulation;
    torch's checkpoints of activations do the work, and the loss is computed once.
    """

    def __init__(self, recipe: Recipe, trainable: Trainable, steps: int, processes: Processes) -> None:
        import torch
        from open_clip_train.scheduler import const_lr, cosine_lr

        self.recipe, self.trainable, self.processes = recipe, trainable, processes
        self.parts = 1
        self.sentences: list[str] = []
        self.device = trainable.towers.device
        self.precision = recipe.precision
        if self.precision == "float16" and self.device.type == "cpu":
            self.precision = "float32"
            self.sentences.append("The CPU computes in float32; float16 is for GPUs.")
        make_optimizer = torch.optim.Adam if recipe.optimizer == "adam" else torch.optim.AdamW
        self.optimizer = make_optimizer(
            trainable.parameter_groups(recipe),
            lr=recipe.learning_rate,
            betas=(recipe.beta1, recipe.beta2),
            eps=recipe.epsilon,
            weight_decay=recipe.weight_decay,
        )
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=self.precision == "float16")
        make = cosine_lr if recipe.schedule == "cosine" else const_lr
        is_flat = recipe.schedule == "constant" and recipe.warmup_steps == 0
        self._schedule: Callable[[int], Any] = (
            (lambda step: None) if is_flat else make(self.optimizer, recipe.learning_rate, recipe.warmup_steps, steps)
        )

    def rate_of(self, step: int) -> float:
        """Return the learning rate of a step, from 0."""
        self._schedule(step)
        return float(self.optimizer.param_groups[0]["lr"])

    def step(self, number: int, loaded: LoadedBatch) -> Mapping[str, float]:
        """Train on a batch; return the parts of the loss and their sum as "loss". `number`: of the step, from 0.

        Raises CannotTrain if the loss is no number, or not even one image fits; the parameters stay as they were.
        """
        self._schedule(number)
        self._train_mode()
        while True:
            try:
                with report_short_memory():
                    values = self._gradients(number, loaded)
                break
            except OutOfMemory as error:
                if self.processes.count > 1:
                    # Alone it would repeat what the others have done, and exchange other vectors than they.
                    raise CannotTrain(
                        f"The memory of one of {self.processes.count} devices is too small for its share of a batch "
                        f"of {self.recipe.batch:,}. Train with a smaller `batch`, or on one device, which splits it."
                    ) from error
                self.optimizer.zero_grad(set_to_none=True)
                self._halve(loaded, error)
        try:
            with report_short_memory():
                self.scaler.step(self.optimizer)
        except OutOfMemory as error:
            raise CannotTrain(
                "The memory of the device is too small for this model and the averages of its optimiser. Use a larger "
                "device, or a smaller model."
            ) from error
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)
        self.trainable.after_step()
        return values

    def outcomes(self, loaded: LoadedBatch) -> Sequence[bool]:
        """Return for each question of a validation batch whether the model answers it correctly."""
        import torch

        for module in self.trainable.modules.values():
            module.eval()
        towers = self.trainable.towers
        with torch.inference_mode(), self._autocast():
            images = self._without_gradients(loaded.pixels, self._see)
            texts = self._without_gradients(loaded.tokens, towers.embed_texts)
        with torch.inference_mode():
            images, texts = self._spread(images, loaded.image_rows), self._spread(texts, loaded.text_rows)
            return self.trainable.outcomes(loaded.batch, images, texts)

    def _autocast(self) -> AbstractContextManager[Any]:
        import torch

        if self.precision == "float32":
            return nullcontext()
        computing: AbstractContextManager[Any] = torch.autocast(self.device.type, dtype=getattr(torch, self.precision))
        return computing

    def _train_mode(self) -> None:
        for module in self.trainable.modules.values():
            module.train()
        if self.trainable.is_frozen:
            self.trainable.towers.model.eval()

    def _gradients(self, number: int, loaded: LoadedBatch) -> Mapping[str, float]:
        import torch

        with torch.no_grad() if self.trainable.is_frozen else nullcontext(), self._autocast():
            images = self._spread(self._in_parts(loaded.pixels, self._see), loaded.image_rows)
            texts = self._spread(self._in_parts(loaded.tokens, self.trainable.towers.embed_texts), loaded.text_rows)
        losses = self.trainable.losses(loaded.batch, images, texts)
        total = torch.stack(list(losses.values())).sum()
        self.scaler.scale(total).backward()
        if not self.trainable.is_frozen:
            self.processes.add_gradients(self.trainable.towers.parameters_of_shares())
        values = dict(zip([*losses, TOTAL], torch.stack([*losses.values(), total]).tolist(), strict=True))
        if not all(map(isfinite, values.values())):
            self.optimizer.zero_grad(set_to_none=True)
            wrong = ", ".join(f"{name} {value}" for name, value in values.items() if not isfinite(value))
            or_float32 = "" if self.precision == "float32" else ", or in float32"
            raise CannotTrain(
                f"The loss of step {number + 1:,} is not a number ({wrong}). Train again with a lower learning_rate "
                f"than {self.recipe.learning_rate:g}{or_float32}. The last checkpoint stays."
            )
        return values

    def _see(self, pixels: Any) -> Any:
        towers = self.trainable.towers
        return towers.embed_images(towers.normalize(pixels))

    def _in_parts(self, rows: Any, embed: Callable[[Any], Any]) -> Any:
        import torch
        from torch.utils.checkpoint import checkpoint

        if rows is None:
            return None
        rows = rows.to(self.device, non_blocking=True)
        if self.parts == 1:
            return embed(rows)
        if self.trainable.is_frozen:
            return torch.cat([embed(part) for part in rows.chunk(self.parts)])
        return torch.cat([checkpoint(embed, part, use_reentrant=False) for part in rows.chunk(self.parts)])

    def _without_gradients(self, rows: Any, embed: Callable[[Any], Any]) -> Any:
        import torch

        if rows is None:
            return None
        some = rows.split(usual_batch(self.device))
        return torch.cat([embed_rows(part, embed, self.trainable.towers) for part in some])

    def _spread(self, vectors: Any, rows: Any) -> Any:
        """Return a vector for each image or text, also for those that are there several times, in float32."""
        import torch

        if vectors is None:
            return None
        vectors = self.processes.join(vectors.float(), max(rows) + 1)
        if list(rows) == list(range(len(vectors))):
            return vectors
        return vectors[torch.tensor(rows, device=vectors.device)]

    def _halve(self, loaded: LoadedBatch, error: OutOfMemory) -> None:
        if self.parts >= max(len(loaded.image_rows), len(loaded.text_rows)):
            raise CannotTrain(TOO_SMALL) from error
        self.parts *= 2
        size = -(-self.recipe.batch // self.parts)
        self.sentences.append(
            f"A batch of {self.recipe.batch:,} did not fit into the memory of the device; it is trained as "
            f"{self.parts} x {size:,}, with the same loss."
        )
