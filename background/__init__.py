"""Background work: a `Job` is the request; every Celery task uses `background.decorator.task`.

Imported before Django's models are, and by workers without Django: this file imports neither. `background.models` and
`background.work` define a job, `background.jobs` changes its state, `background.tasks.send` has one run, and
`background.broker` carries messages.
"""
