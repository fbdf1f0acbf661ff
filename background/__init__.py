"""Background work: what is asked for is a `Job`; every Celery task of the platform wears `background.decorator.task`.

Imported before Django's models are, and by workers that have no Django at all: nothing here knows either. What a job
is stands in `background.models` and `background.work`, what happens to it in `background.jobs`, and
`background.tasks.send` has one run. `background.broker` is how messages travel.
"""
