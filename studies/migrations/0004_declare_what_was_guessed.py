"""Write down what the version before guessed each time: what a study is for, and which one keeps a project's dataset."""

import secrets
import string

from django.db import migrations

# The kinds of that version whose right answers are known; it took their studies for baselines.
KINDS_WITH_RIGHT_ANSWERS = {"image_to_text", "text_to_image"}
LEFT_OUT = "left_out"
CODE_LENGTH = 9


def declare(apps, schema_editor):
    Study = apps.get_model("studies", "Study")
    for study in Study.objects.order_by("pk").iterator():
        kinds = {part["kind"] for part in study.design["parts"]} if "parts" in study.design else {study.kind}
        study.purpose = "baseline" if kinds & KINDS_WITH_RIGHT_ANSWERS else "filter"
        # Links that were sent out go on leading to it, even when another project uses the name.
        study.public_token = study.slug
        study.order_secret = secrets.token_urlsafe(32)
        study.save(update_fields=["purpose", "public_token", "order_secret"])
    for project in apps.get_model("studies", "Project").objects.all():
        keeping = _last_filter(Study, project)
        if keeping is not None:
            project.dataset = keeping
            project.save(update_fields=["dataset"])


def _last_filter(Study, project):
    """Return the study that results were counted from: the last filter in the order of the pipeline, launched."""
    fed = {}
    for study in Study.objects.filter(project=project).order_by("created_at", "pk"):
        fed.setdefault(study.fed_by_id, []).append(study)
    ordered, waiting = [], list(fed.get(None, ()))
    while waiting:
        study = waiting.pop(0)
        ordered.append(study)
        waiting[:0] = fed.get(study.pk, ())
    launched = [study for study in ordered if study.purpose == "filter" and study.state != "draft"]
    return launched[-1] if launched else None


def add_codes(apps, schema_editor):
    """Give every study a code for the ending that is new."""
    CompletionCode = apps.get_model("studies", "CompletionCode")
    having = CompletionCode.objects.filter(outcome=LEFT_OUT).values("study")
    signs = string.ascii_uppercase + string.digits
    for study in apps.get_model("studies", "Study").objects.exclude(pk__in=having):
        code = "".join(secrets.choice(signs) for _ in range(CODE_LENGTH))
        CompletionCode.objects.create(study=study, outcome=LEFT_OUT, code=code)


def remove_codes(apps, schema_editor):
    apps.get_model("studies", "CompletionCode").objects.filter(outcome=LEFT_OUT).delete()


class Migration(migrations.Migration):

    dependencies = [
        ('studies', '0003_purposes_and_events'),
    ]

    operations = [
        # The columns that the first fills go with the migration before; the version before knows nothing of them.
        migrations.RunPython(declare, migrations.RunPython.noop, elidable=True),
        migrations.RunPython(add_codes, remove_codes, elidable=True),
    ]
