"""What the paper published, as far as it is known here, beside which the replay prints what it counted.

Source: Krojer et al. 2022, "Image Retrieval from Contextual Descriptions", ACL.
"""

from studies.descriptions import STATIC, VIDEO

# Image sets and descriptions by split and type, as released.
RELEASED = {
    ("train", STATIC): (1_281, 3_501),
    ("train", VIDEO): (6_036, 13_093),
    ("valid", STATIC): (155, 430),
    ("valid", VIDEO): (884, 1_872),
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
# Krippendorff's alpha of the validation split; percent of all descriptions that were filtered out; percent of
# descriptions that people found, in the validation and the test split.
ALPHA_NOMINAL, ALPHA_INTERVAL = 0.797, 0.872
FILTERED_OUT = 26.5
HUMANS_VALID, HUMANS_TEST = 90.9, 90.8
