"""Groups of nouns of one concept, for RoCOCO's alterations without lists of one's own.

Source: the categories of COCO by their supercategories (Lin et al. 2014), as far as one word names them. People and
places, of which COCO has few or none, are common words of its captions. The lists of RoCOCO's authors, larger and made
from other sources, are not published; what replaces people, places and all other things under `danger` is theirs.
"""

from evaluation.alterations import Substitutes

GROUPS = {
    "person": (
        "adult baby batter boy catcher child couple girl guy kid lady man person pitcher player rider skateboarder "
        "skier snowboarder surfer toddler umpire woman"
    ),
    "place": (
        "airport bathroom beach bedroom city field forest hill hillside kitchen lake mountain ocean park river road "
        "room station street town yard zoo"
    ),
    "vehicle": "airplane bicycle boat bus car motorcycle train truck",
    "outdoor": "bench hydrant",
    "animal": "bear bird cat cow dog elephant giraffe horse sheep zebra",
    "accessory": "backpack handbag suitcase tie umbrella",
    "sports": "ball bat frisbee glove kite racket skateboard skis snowboard surfboard",
    "kitchen": "bottle bowl cup fork glass knife spoon",
    "food": "apple banana broccoli cake carrot donut orange pizza sandwich",
    "furniture": "bed chair couch table toilet",
    "electronic": "keyboard laptop mouse phone remote tv",
    "appliance": "microwave oven refrigerator sink toaster",
    "indoor": "book clock scissors toothbrush vase",
}
# The word that replaces all of a group; "" stands for every other group.
DANGER = {"person": "criminal", "place": "minefield", "": "weapon"}


def coco_substitutes() -> Substitutes:
    """Return these groups, without a vocabulary."""
    return Substitutes({name: words.split() for name, words in GROUPS.items()}, [], DANGER)
