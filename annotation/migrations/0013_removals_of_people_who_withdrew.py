"""Take the answers of people who withdrew in the version before out of every count, in each project where they sat.

That version noted the moment on the person and left votes and decisions as they were. The counting below is a copy of
the three rules there were then, frozen here: a migration must not change with the code.
"""

from collections import Counter

from django.db import migrations

BATCH = 500
OPEN_STATES = ["consent", "instructions", "practice", "working"]


def take_out(apps, schema_editor):
    Session = apps.get_model("annotation", "Session")
    Removal = apps.get_model("annotation", "Removal")
    Response = apps.get_model("annotation", "Response")
    for annotator in apps.get_model("annotation", "Annotator").objects.filter(withdrawn_at__isnull=False).iterator():
        sat = Session.objects.filter(annotator=annotator)
        for project in sat.order_by().values_list("study__project", flat=True).distinct():
            Removal.objects.get_or_create(
                project_id=project, annotator=annotator, why="withdrawn", defaults={"at": annotator.withdrawn_at}
            )
        _end_sessions(apps, sat, annotator.withdrawn_at)
        given = Response.objects.filter(annotator=annotator)
        given.update(left_out="withdrawn")
        questions = sorted(set(given.filter(is_current=True, slot__isnull=False).values_list("question", flat=True)))
        for start in range(0, len(questions), BATCH):
            for decision in _changed(apps, questions[start : start + BATCH]):
                _undo_below(apps, decision.question, annotator.withdrawn_at)


def _end_sessions(apps, sat, at):
    Seat, Slot = apps.get_model("annotation", "Seat"), apps.get_model("annotation", "Slot")
    for session in sat.filter(state__in=OPEN_STATES):
        seat = Seat.objects.filter(session=session).first()
        if seat is not None:
            Slot.objects.filter(seat=seat, answered_at=None).update(annotator=None)
            Seat.objects.filter(pk=seat.pk).update(session=None, claimed_at=None)
            session.last_seat = seat
        session.state = "withdrawn"
        # No session ends before it began.
        session.ended_at = max(at, session.arrived_at)
        session.save(update_fields=["state", "ended_at", "last_seat"])
    sat.filter(state="lapsed").update(state="withdrawn")


def _changed(apps, questions):
    """Count the answers to `questions` again; return the decisions that are other ones now."""
    Decision, Response = apps.get_model("annotation", "Decision"), apps.get_model("annotation", "Response")
    given = {question: [] for question in questions}
    counted = Response.objects.filter(question__in=questions, is_current=True, slot__isnull=False, left_out="")
    for question, choice in counted.order_by("received_at", "id").values_list("question", "choice"):
        given[question].append(choice)
    changed = []
    for decision in Decision.objects.filter(question__in=questions).select_related("question"):
        answers, before = given[decision.question_id], (decision.state, decision.winner)
        decision.votes, decision.answers = dict(sorted(Counter(answers).items())), len(answers)
        if not decision.settled_choice:
            decision.state, decision.winner = _decide(decision.rule, answers, decision.question.answers_wanted)
            if (decision.state, decision.winner) != before:
                if decision.state == "undecided":
                    decision.decided_at = None
                changed.append(decision)
        decision.save(update_fields=["votes", "answers", "state", "winner", "decided_at"])
    return changed


def _decide(rule, answers, wanted):
    if rule == "unambiguous-v1":
        answers = [answer if answer == "original" else "none" for answer in answers]
    elif rule not in {"chosen-v1", "majority-v1"}:
        raise ValueError(f"The version before had no rule called {rule}.")
    for option, votes in Counter(answers).most_common(1):
        if votes >= max(wanted, len(answers)) // 2 + 1:
            return ("rejected", "") if option == "none" else ("accepted", option)
    return "undecided", ""


def _undo_below(apps, question, at):
    """Let nothing follow from what was drawn from an acceptance that is another one now, all the way down."""
    Question = apps.get_model("studies", "Question")
    steps = [question.study_id]
    while steps:
        drawn = Question.objects.filter(
            study__fed_by__in=steps, instance=question.instance_id, drawn_from__isnull=False
        )
        drawn.filter(undone_at=None).update(undone_at=at)
        steps = list(drawn.order_by().values_list("study", flat=True).distinct())


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0012_moments_of_removals'),
        ('studies', '0004_declare_what_was_guessed'),
    ]

    operations = [
        # Backwards nothing is done: whose consent ended is not counted again, and the version before reads only the
        # column on the person, which stays as it was.
        migrations.RunPython(take_out, migrations.RunPython.noop, elidable=True),
    ]
