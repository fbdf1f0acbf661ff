import pytest


@pytest.fixture(autouse=True)
def _nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked for is made where a test says so; no broker is asked."""
    monkeypatch.setattr("workspace.api.exports.send", lambda job: None)
    monkeypatch.setattr("workspace.api.hub.send", lambda job: None)
    monkeypatch.setattr("workspace.tasks.deliver.delay_on_commit", lambda: None)
    monkeypatch.setattr("workspace.api.imports.send", lambda job: None)
    monkeypatch.setattr("workspace.api.studies.send", lambda job: None)
