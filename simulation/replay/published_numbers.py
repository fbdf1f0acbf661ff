"""List BiVLC's published numbers: inputs of the replay, and values to compare its tables with.

Source: Miranda et al. 2024, "BiVLC: Extending vision-language compositionality evaluation with text-to-image
retrieval", NeurIPS Datasets and Benchmarks: table 1 (counts), table 7 (kappas), table 3 (humans).
"""

MANIFEST_ROWS = 7_512
# Each instance has four questions: two images to text, two texts to image.
QUESTIONS_PER_INSTANCE = 4
# Retrieval examples of the released dataset by (type, subtype).
RETRIEVAL_EXAMPLES = {
    ("replace", "obj"): 4_800,
    ("replace", "att"): 1_748,
    ("replace", "rel"): 1_848,
    ("swap", "obj"): 324,
    ("swap", "att"): 1_112,
    ("add", "obj"): 1_596,
    ("add", "att"): 304,
}
# Cohen's kappa, any image versus none, of the five pairs who answered the same 100 questions.
PAIR_KAPPAS = (0.66, 0.43, 0.56, 0.43, 0.38)
MEAN_KAPPA = 0.49
# Humans in percent of the instances of the baseline.
HUMAN_I2T, HUMAN_T2I, HUMAN_GROUP = 90.40, 93.00, 86.80
