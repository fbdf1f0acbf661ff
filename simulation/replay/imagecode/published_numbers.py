"""List ImageCoDe's published numbers, which the replay prints beside its own.

Source: Krojer et al. 2022, "Image Retrieval from Contextual Descriptions", ACL (arXiv 2203.15867), and the released
files in McGill-NLP/imagecode.
"""

from analytics.imagecode import SetCounts

# Table 1: image sets and descriptions, by split.
RELEASED = {
    "train": SetCounts(
        sets=7_317,
        descriptions=16_594,
        static_sets=1_281,
        static_descriptions=3_501,
        sets_by_source={"open-images": 1_281, "MSR-VTT": 2_641, "video-storytelling": 3_274, "YouCook": 121},
    ),
    "valid": SetCounts(
        sets=1_039,
        descriptions=2_302,
        static_sets=155,
        static_descriptions=430,
        sets_by_source={"open-images": 155, "MSR-VTT": 571, "video-storytelling": 233, "YouCook": 80},
    ),
}
# Table 2: percent of the annotated descriptions of the validation split, by the code in the released annotation.
PHENOMENA = {
    "con": ("context", 47.3),
    "t": ("temporal", 15.0),
    "q": ("quantities", 48.5),
    "s": ("spatial", 70.5),
    "neg": ("negation", 17.9),
    "v": ("visibility", 45.5),
    "n": ("nuances", 26.3),
    "cor": ("coreference", 41.5),
    "img": ("meta", 12.0),
}
# Language of all 21,202 descriptions, as counted by spaCy's en_core_web_sm. Taken from overviews that quote the paper,
# not checked against its text.
TOKENS_PER_DESCRIPTION, SENTENCES_PER_DESCRIPTION = 23.3, 1.6
# Krippendorff's alpha of the validation split, over all answers to accepted descriptions (annotator_agreement.py);
# percent of the answers to accepted descriptions that are right; percent of all written descriptions that were
# filtered out.
ALPHA_NOMINAL, ALPHA_INTERVAL = 0.797, 0.872
FILTERED_OUT = 26.5
HUMANS_VALID = 90.9
# The chance to find an image that gives both people's accuracy and alpha under `retrieved-2-of-3-v1`. With a chance p,
# two of two find it with p^2, two of three with 2 p^2 (1 - p), so that (3 - 2p) / (4 - 3p) of the answers to accepted
# descriptions are right: 10/11 = .909 with p = 7/8. Alpha is then 1 - (2/11) / .9 = .798, if every image is described
# equally often.
ACCURACY = 0.875
# Published numbers that cannot be computed here: name, value, reason.
NOT_COMPUTED = (
    ("Image sets and descriptions of the test split", "1,046 and 2,306", "needs the test file, which has no targets"),
    ("Images of all splits", "94,020", "needs the test file; a set has ten, so train and valid have 83,560"),
    ("Tokens, sentences and tree depth over all splits", "23.3, 1.6 and 5.1", "needs the test file and spaCy's model"),
    ("Written descriptions that were filtered out", "26.5 %", "needs those that were filtered out, never released"),
    (
        "Alpha and accuracy of people, from their answers",
        "see the table of retrievers",
        "needs the answers, never released; those here are simulated",
    ),
    ("Accuracy of people on the test split", "90.8 %", "needs the answers, never released"),
    (
        "Accuracy of CLIP, UNITER and ViLBERT on the test split",
        "best 20.9 % (video), 59.4 % (static)",
        "needs images, models and labelled test descriptions; `evaluate --benchmark imagecode` scores models on valid",
    ),
    ("The same language figures of NLVR2 and Spot-the-diff", "", "needs their texts, which are not ImageCoDe's"),
)
