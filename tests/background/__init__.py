"""Read by the settings of a worker process too, before Django has models."""

NAME = "tests.count"
WORK = {NAME: "tests.background.work.COUNT"}
