from config.environment import mistakes_stop_the_start

# Whatever starts (the web server, a worker, a command) imports this first, and reads all settings with it.
with mistakes_stop_the_start():
    from config.celery import app as celery_app

__all__ = ["celery_app"]
