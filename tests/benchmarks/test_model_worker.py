"""The benchmark of the worker with models, run as a command beside a site whose broker the environment names."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import redis

from predictions.messages import DEFAULT, GPU

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.once(on="sqlite", because="no database is in it")
def test_it_takes_no_message_from_a_broker_that_it_did_not_start(redis_server: str, tmp_path: Path) -> None:
    live = f"{redis_server.rpartition('/')[0]}/2"
    with redis.Redis.from_url(live) as broker:
        for queue in (DEFAULT, GPU):
            broker.lpush(queue, "of the site")
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.model_worker", "--model", "onnx:demo", "--pictures", "8"],
            cwd=ROOT,
            env=os.environ | {"CELERY_BROKER_URL": live, "CELERY_BROKER_READ_URL": live, "TMPDIR": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=240,
        )
        left = {queue: broker.lrange(queue, 0, -1) for queue in (DEFAULT, GPU)}
    assert done.returncode == 0, done.stderr
    assert "8 distinct images" in done.stdout
    assert left == {DEFAULT: [b"of the site"], GPU: [b"of the site"]}
