"""Write down whose practice answers they are, and number the rounds that a person began anew with every session.

The newest session keeps its numbers, because the order of the options on the page that it is at rests on them; rounds
of older sessions that have the same number go behind them. Going back needs nothing: within a session no number stands
twice.
"""

from django.db import migrations
from django.db.models import Exists, OuterRef, Q, Subquery

PRACTICE = "practice"


def number(apps, schema_editor):
    PracticeAnswer = apps.get_model("annotation", "PracticeAnswer")
    Session = apps.get_model("annotation", "Session")
    own = Session.objects.filter(pk=OuterRef("session")).values("annotator")[:1]
    PracticeAnswer.objects.filter(annotator=None).update(annotator=Subquery(own))
    practised = Exists(PracticeAnswer.objects.filter(session=OuterRef("pk")))
    sessions = Session.objects.filter(practised | Q(state=PRACTICE) | Q(state_before_lapse=PRACTICE))
    taken_by = {}
    for session in sessions.order_by("-arrived_at", "-pk").iterator():
        taken = taken_by.setdefault((session.study_id, session.annotator_id), set())
        answers = PracticeAnswer.objects.filter(session=session).order_by()
        rounds = sorted(answers.values_list("round", flat=True).distinct())
        if taken & set(rounds):
            # The highest first and behind all there are, so that no two rounds meet on the way.
            highest = max([*taken, *rounds])
            for place, old in reversed([*enumerate(rounds, start=1)]):
                answers.filter(round=old).update(round=highest + place)
        taken |= set(answers.values_list("round", flat=True)) | {session.practice_round}


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0008_practice_answers_know_their_annotator"),
    ]

    operations = [
        migrations.RunPython(number, migrations.RunPython.noop, elidable=True),
    ]
