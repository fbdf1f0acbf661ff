from predictions.models.duplicates import LONGEST_EMBEDDING, NearDuplicate, PictureVector
from predictions.models.predictions import LONGEST, QUESTIONS, Evaluation, InstanceOutcomes, Model, Prediction
from predictions.models.runs import PICTURE, Chunk, Conditions, Run
from predictions.models.trained_weights import TrainedWeights

__all__ = [
    "LONGEST",
    "LONGEST_EMBEDDING",
    "PICTURE",
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
    "TrainedWeights",
]
