"""Ids of public sources in names of images, as the data sets write them."""

import pytest

from training.source_ids import source_ids


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("000000219578.jpg", ["coco:219578"]),
        ("val2014/COCO_val2014_000000391895.jpg", ["coco:391895"]),
        ("http://images.cocodataset.org/val2017/000000219578.jpg", ["coco:219578"]),
        # Generated for the photo, and not the photo.
        ("0_000000219578_2.jpg", []),
        ("flickr30k-images/1007129816.jpg", ["flickr:1007129816"]),
        ("https://www.flickr.com/photos/somebody/1007129816/", ["flickr:1007129816"]),
        ("https://live.staticflickr.com/65535/1007129816_e794419615_b.jpg", ["flickr:1007129816"]),
        ("VG_100K_2/2377.jpg", ["visual-genome:2377"]),
        ("gqa/2377.jpg#xywh=160,120,320,240", ["visual-genome:2377"]),
        # A number without a folder may be of any data set.
        ("2377.jpg", []),
        ("open-images-1283_0f0565064ea964f8/img3.jpg", ["image-set:open-images-1283_0f0565064ea964f8"]),
        ("images/0f0565064ea964f8.jpg", ["open-images:0f0565064ea964f8"]),
        ("YouCook-video0095-shot9_0/#3of10", ["image-set:YouCook-video0095-shot9_0", "video:YouCook-video0095"]),
        (
            "sets/YouCook-video0095-shot7_1/img12.jpg",
            ["image-set:YouCook-video0095-shot7_1", "video:YouCook-video0095"],
        ),
        ("photo.jpg", []),
        ("", []),
    ],
)
def test_ids_are_read_from_names(name: str, ids: list[str]) -> None:
    assert source_ids([name, name]) == ids
