import gc

from config.environment import mistakes_stop_the_start

# A request makes thousands of objects and leaves hardly a cycle among them: looking for one after every 700, as
# Python does by itself, takes a twelfth of the time of an answer, a tenth of a start and a fifth of all migrations.
OBJECTS_BETWEEN_LOOKS = 10_000
gc.set_threshold(OBJECTS_BETWEEN_LOOKS)

# Whatever starts (the web server, a worker, a command) imports this first, and reads all settings with it.
with mistakes_stop_the_start():
    from config.celery import app as celery_app

__all__ = ["celery_app"]
