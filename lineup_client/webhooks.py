"""Webhooks of a project."""

from collections.abc import Sequence
from typing import Any

from lineup_client.connection import ProjectPart
from lineup_client.rows import Rows


class Webhooks(ProjectPart):
    """The webhooks of a project; call it to list them."""

    def __call__(self) -> Rows:
        return Rows(lambda: self._site.rows(f"{self._path}webhooks/"))

    def make(self, url: str, topics: Sequence[str]) -> tuple[dict[str, Any], str]:
        """Create a webhook for topics (docs/webhooks.md); return it, and its signing key."""
        wanted = {"url": url, "topics": list(topics)}
        made = self._site.json("POST", f"{self._path}webhooks/", makes=True, json=wanted)
        return made, self.change_key(made["id"], hours=0)

    def change_key(self, id: int, *, hours: int = 24) -> str:
        """Give a webhook a new key and return it; the previous one also signs for `hours`."""
        return str(self._act("webhooks", id, "key", json={"hours": hours})["key"])

    def try_out(self, id: int) -> dict[str, Any]:
        """Send a test message; return its state."""
        return self._act("webhooks", id, "try")

    def switch_on(self, id: int) -> dict[str, Any]:
        return self._act("webhooks", id, "on")

    def delete(self, id: int) -> None:
        self._site.request("DELETE", f"{self._path}webhooks/{id}/")

    def deliveries(self, id: int) -> Rows:
        """Return the messages of a webhook, newest first."""
        return Rows(lambda: self._site.rows(f"{self._path}webhooks/{id}/deliveries/"))

    def repeat(self, delivery: int) -> dict[str, Any]:
        """Send a message again."""
        return self._act("deliveries", delivery, "repeat")

    def _act(self, kind: str, id: int, name: str, **options: Any) -> dict[str, Any]:
        return self._site.json("POST", f"{self._path}{kind}/{id}/{name}/", **options)
