"""A PostgreSQL as production has it, for the stories in which it is killed or stopped."""

from collections.abc import Iterator

import pytest

from tests.flows.site import site_over
from tests.servers import Cluster, postgresql_cluster

MIGRATED = "migrated"


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A server that runs, with an empty but migrated database MIGRATED, of which a test takes copies."""
    with postgresql_cluster(durable=True) as running:
        site = site_over(database_url=running.url(MIGRATED), data_dir=tmp_path_factory.mktemp(MIGRATED))
        site.run("manage.py", "migrate", "--verbosity", "0")
        yield running
