"""Register the protocols of public benchmarks by name; a new one is one file, its test, and one line here."""

from functools import cache
from pkgutil import resolve_name
from typing import Any

from evaluation.errors import BenchmarkError
from evaluation.protocols.base import Benchmark, Block, Breakdown, Choice, Evaluation, evaluate

PROTOCOLS = {
    "bivlc": "evaluation.protocols.bivlc.BiVLC",
    "sugarcrepe": "evaluation.protocols.sugarcrepe.SugarCrepe",
    "aro": "evaluation.protocols.aro.ARO",
    "rococo": "evaluation.protocols.rococo.RoCOCO",
    "imagecode": "evaluation.protocols.imagecode.ImageCoDe",
}


@cache
def get_protocol(name: str) -> Benchmark[Any, Any]:
    """Return the protocol called `name`. Raises KeyError for a name that is not in the registry."""
    protocol: Benchmark[Any, Any] = resolve_name(PROTOCOLS[name])()
    return protocol


__all__ = [
    "PROTOCOLS",
    "Benchmark",
    "BenchmarkError",
    "Block",
    "Breakdown",
    "Choice",
    "Evaluation",
    "evaluate",
    "get_protocol",
]
