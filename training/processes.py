"""Training by several processes, one for each device, as accelerate's launcher starts them. Pure.

    accelerate launch -m training FOLDER --images IMAGES

Each process embeds its share of a batch. The vectors are exchanged, so that each computes the same loss of the whole
batch, as one process would; then the gradients of the towers are added up. Importing this module does not import torch.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Processes:
    """The processes of a training: this one's number, from 0, and how many there are."""

    index: int = 0
    count: int = 1

    @property
    def is_main(self) -> bool:
        return self.index == 0

    def share(self, items: Sequence[T]) -> Sequence[T]:
        """Return this process's share of items; the shares, in order, are all of them."""
        start, stop = (len(items) * (self.index + more) // self.count for more in (0, 1))
        return items[start:stop]

    def share_to_load(self, items: Sequence[T]) -> Sequence[T]:
        """Return `share`, but the first item where it is empty: a model needs a row, which `join` leaves out again."""
        return self.share(items) or items[:1]

    def join(self, vectors: Any, total: int) -> Any:
        """Return the `total` vectors of all processes, in rows; only those of this one have gradients.

        vectors: those of `share_to_load`.
        """
        if self.count == 1:
            return vectors
        import torch
        from accelerate.utils import gather, pad_across_processes

        padded = gather(pad_across_processes(vectors.detach().contiguous()))
        most = len(padded) // self.count
        rows = torch.arange(total)
        lengths = [len(Processes(index, self.count).share(rows)) for index in range(self.count)]
        parts = [padded[most * index : most * index + length] for index, length in enumerate(lengths)]
        return torch.cat([*parts[: self.index], vectors[: lengths[self.index]], *parts[self.index + 1 :]])

    def add_gradients(self, parameters: Iterable[Any]) -> None:
        """Add up the gradients of the processes."""
        if self.count == 1:
            return
        import torch
        from accelerate.utils import reduce

        for parameter in parameters:
            own = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            parameter.grad = reduce(own, "sum")

    def agree(self, value: bool) -> bool:
        """Return what the main process says."""
        if self.count == 1:
            return value
        from accelerate.utils import broadcast_object_list

        (said,) = broadcast_object_list([value])
        return bool(said)

    def wait(self) -> None:
        """Wait until all processes are here."""
        if self.count > 1:
            from accelerate import PartialState

            PartialState().wait_for_everyone()


def processes_here() -> tuple[Processes, str]:
    """Return the processes that the launcher started, and the device of this one; one process and "" without it."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return Processes(), ""
    import torch
    from accelerate import PartialState

    state = PartialState(cpu=not torch.cuda.is_available())
    return Processes(state.process_index, state.num_processes), str(state.device)
