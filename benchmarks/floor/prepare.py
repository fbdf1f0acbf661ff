"""Create the tables of the floor and its slots: python -m benchmarks.floor.prepare QUESTIONS SLOTS."""

import os
import sys

import django
from django.core.management import call_command

BATCH = 5000


def main(questions: int, slots: int) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.floor.settings"
    django.setup()
    from benchmarks.floor.models import Question, Slot

    call_command("migrate", run_syncdb=True, verbosity=0)
    content = {"caption": "A red ball to the left of a blue house.", "options": [f"{n:064x}" for n in range(4)]}
    made = Question.objects.bulk_create((Question(content=content) for _ in range(questions)), batch_size=BATCH)
    Slot.objects.bulk_create((Slot(question=made[number % questions]) for number in range(slots)), batch_size=BATCH)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
