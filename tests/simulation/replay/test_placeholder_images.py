"""What it costs to give 1,000 places a picture each: told in rows that the database reads, not in seconds."""

import pytest
from django.db import connection, transaction

from simulation.replay.placeholder_images import fill_with_placeholders, wait_for_photos
from studies.models import Image, InstanceImage
from studies.progress_bars import ProgressBars
from tests.factories import make_image, make_instance, make_project

INSTANCES, USES = 200, 1_000


def rows_read_through(table: str) -> int:
    """Return how many rows of `table` this transaction has read by going through the whole of it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = %s", [table])
        return int(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
def test_a_picture_is_found_by_its_key_however_few_there_were_when_the_replay_began() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite does not say how many rows it reads.")
    project = make_project()
    for number in range(INSTANCES):
        make_instance(project, f"row-{number}", candidates=0, reference={"coco": f"{number}.jpg"})
    InstanceImage.objects.bulk_create(
        InstanceImage(instance=instance, role="candidate", position=position, filename=f"{instance.key}_{position}.jpg")
        for instance in project.instances.all()
        for position in range(4)
    )
    make_image("the only one")
    with connection.cursor() as cursor:
        # As an import of instances whose images come later leaves it.
        cursor.execute("ANALYZE studies_image")
    with transaction.atomic():
        with connection.cursor() as cursor:
            # Otherwise the database looks for the images when the transaction ends, and takes its count along.
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        wait_for_photos(project=project, role="image", key="coco")
        drawn = fill_with_placeholders(project=project, progress=ProgressBars(None))
        assert rows_read_through("studies_image") < USES
    assert drawn == USES
    assert Image.objects.count() == USES + 1
    assert not InstanceImage.objects.filter(image=None).exists()
