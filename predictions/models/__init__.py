from predictions.models.duplicates import NearDuplicate, PictureVector
from predictions.models.predictions import (
    LONGEST,
    QUESTIONS,
    Evaluation,
    InstanceOutcomes,
    Model,
    Prediction,
)
from predictions.models.runs import Chunk, Conditions, Run

__all__ = [
    "LONGEST",
    "QUESTIONS",
    "Chunk",
    "Conditions",
    "Evaluation",
    "InstanceOutcomes",
    "Model",
    "NearDuplicate",
    "PictureVector",
    "Prediction",
    "Run",
]
