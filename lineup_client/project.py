"""A project, who belongs to it, and what is in it."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from lineup_client.connection import PAGE, Connection
from lineup_client.instances import Instances
from lineup_client.predictions import Predictions
from lineup_client.rows import Rows
from lineup_client.studies import Studies, Study
from lineup_client.waiting import HubPush
from lineup_client.webhooks import Webhooks


class Project:
    """One project of a site."""

    def __init__(self, site: Connection, slug: str) -> None:
        self._site = site
        self.slug = slug
        self.path = f"projects/{slug}/"
        self.instances = Instances(site, self.path)
        self.predictions = Predictions(site, self.path)
        self.studies = Studies(site, self.path)
        self.webhooks = Webhooks(site, self.path)

    def read(self) -> dict[str, Any]:
        """Return what the project is called and how much is in it."""
        return self._site.json("GET", self.path)

    def rename(self, name: str) -> dict[str, Any]:
        """Call it otherwise on its pages; its addresses stay. Raises LineupError."""
        return self._site.json("PATCH", self.path, json={"name": name})

    def archive(self) -> dict[str, Any]:
        """Put it away: it can be looked at and exported, and nothing in it goes on. Raises LineupError."""
        return self._site.json("PATCH", self.path, json={"archived": True})

    def reopen(self) -> dict[str, Any]:
        """Take it out of the archive."""
        return self._site.json("PATCH", self.path, json={"archived": False})

    def members(self) -> Rows:
        return Rows(lambda: self._site.rows(f"{self.path}members/"))

    def invite(self, role: str, *, days: int = 7, whom: str = "", mail: str = "") -> dict[str, Any]:
        """Make a link by which one person becomes a member; `link` is given this once. Raises LineupError.

        mail: where the site sends it, if it sends mail.
        """
        wanted = {"role": role, "days": days, "whom": whom, "mail": mail}
        return self._site.json("POST", f"{self.path}invitations/", makes=True, json=wanted)

    def invitations(self) -> Rows:
        """Return those that can still be used, without their links."""
        return Rows(lambda: self._site.rows(f"{self.path}invitations/"))

    def cancel_invitation(self, id: int) -> None:
        self._site.request("DELETE", f"{self.path}invitations/{id}/")

    def change_role(self, username: str, role: str) -> dict[str, Any]:
        """Make a member something else: viewer, editor or owner. Raises LineupError."""
        return self._site.json("PATCH", f"{self.path}members/{quote(username, safe='')}/", json={"role": role})

    def remove_member(self, username: str) -> None:
        """End a membership; one's own anybody may end. Raises LineupError."""
        self._site.request("DELETE", f"{self.path}members/{quote(username, safe='')}/")

    def people(self) -> Rows:
        """Return who has come to its studies, by pseudonym, and whether their answers count."""
        return Rows(lambda: self._site.rows(f"{self.path}people/", limit=PAGE))

    def exclude(self, name: str, reason: str, *, dry_run: bool = False) -> dict[str, Any]:
        """Let the answers of the person with this pseudonym count nowhere, until `include`; return what follows."""
        return self._change_person(name, "exclude", {"reason": reason, "dry_run": dry_run})

    def include(self, name: str, *, dry_run: bool = False) -> dict[str, Any]:
        """Let the answers of somebody who was excluded count again; return what follows."""
        return self._change_person(name, "include", {"dry_run": dry_run})

    def withdraw(self, name: str, *, dry_run: bool = False) -> dict[str, Any]:
        """Take somebody's answers out who took back their consent. It cannot be undone."""
        return self._change_person(name, "withdraw", {"dry_run": dry_run})

    def reopen_slots(self, name: str, *, dry_run: bool = False) -> dict[str, Any]:
        """Offer the places of somebody's answers that count no more to others."""
        return self._change_person(name, "reopen", {"dry_run": dry_run})

    def _change_person(self, name: str, change: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
        path = f"{self.path}people/{quote(name, safe='')}/{change}/"
        return self._site.json("POST", path, makes=True, json=wanted)

    def events(self) -> Rows:
        """Who did what, newest first."""
        return Rows(lambda: self._site.rows(f"{self.path}events/"))

    def hub_pushes(self) -> Rows:
        """What was pushed to the Hugging Face Hub, newest first."""
        return Rows(lambda: self._site.rows(f"{self.path}hub-pushes/"))

    def push_to_hub(self, release: str, repository: str, *, token: str, private: bool = True) -> HubPush:
        """Have a frozen release pushed to a dataset repository of the Hub, OWNER/NAME, in the background.

        token: of the Hub, one that may write there. private: whether a repository that is not there yet is made so.
        """
        wanted = {"release": release, "repository": repository, "token": token, "private": private}
        told = self._site.json("POST", f"{self.path}hub-pushes/", makes=True, json=wanted)
        return HubPush(self._site, self.path, told)

    def study(self, slug: str) -> Study:
        """Return the study called so; nothing is asked yet."""
        return Study(self._site, self.path, slug)
