"""A project, its members and its contents."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from lineup_client.connection import PAGE, Connection
from lineup_client.instances import Instances
from lineup_client.predictions import Predictions
from lineup_client.rows import Rows
from lineup_client.studies import Studies, Study
from lineup_client.training import Trainings
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
        self.trainings = Trainings(site, self.path)
        self.studies = Studies(site, self.path)
        self.webhooks = Webhooks(site, self.path)

    def read(self) -> dict[str, Any]:
        """Return the project's name and counts."""
        return self._site.json("GET", self.path)

    def rename(self, name: str) -> dict[str, Any]:
        """Rename the project; its addresses stay. Raises LineupError."""
        return self._site.json("PATCH", self.path, json={"name": name})

    def archive(self) -> dict[str, Any]:
        """Archive the project: it can be viewed and exported, and nothing in it continues. Raises LineupError."""
        return self._site.json("PATCH", self.path, json={"archived": True})

    def reopen(self) -> dict[str, Any]:
        """Restore the project from the archive."""
        return self._site.json("PATCH", self.path, json={"archived": False})

    def members(self) -> Rows:
        return Rows(lambda: self._site.rows(f"{self.path}members/"))

    def invite(self, role: str, *, days: int = 7, whom: str = "", mail: str = "") -> dict[str, Any]:
        """Create an invitation link for one person; only this response has `link`. Raises LineupError.

        mail: address to send it to, if the site sends mail.
        """
        wanted = {"role": role, "days": days, "whom": whom, "mail": mail}
        return self._site.json("POST", f"{self.path}invitations/", makes=True, json=wanted)

    def invitations(self) -> Rows:
        """Return the invitations that can still be used, without their links."""
        return Rows(lambda: self._site.rows(f"{self.path}invitations/"))

    def cancel_invitation(self, id: int) -> None:
        self._site.request("DELETE", f"{self.path}invitations/{id}/")

    def change_role(self, username: str, role: str) -> dict[str, Any]:
        """Change a member's role: viewer, editor or owner. Raises LineupError."""
        return self._site.json("PATCH", f"{self.path}members/{quote(username, safe='')}/", json={"role": role})

    def remove_member(self, username: str) -> None:
        """Remove a member; everybody may remove themselves. Raises LineupError."""
        self._site.request("DELETE", f"{self.path}members/{quote(username, safe='')}/")

    def people(self) -> Rows:
        """Return the people of its studies by pseudonym, and whether their answers count."""
        return Rows(lambda: self._site.rows(f"{self.path}people/", limit=PAGE))

    def exclude(self, name: str, reason: str, *, dry_run: bool = False) -> dict[str, Any]:
        """Exclude the answers of the person with this pseudonym, until `include`; return the effects."""
        return self._change_person(name, "exclude", {"reason": reason, "dry_run": dry_run})

    def include(self, name: str, *, dry_run: bool = False) -> dict[str, Any]:
        """Include the answers of an excluded person again; return the effects."""
        return self._change_person(name, "include", {"dry_run": dry_run})

    def withdraw(self, name: str, *, dry_run: bool = False) -> dict[str, Any]:
        """Withdraw the answers of a person who withdrew consent. It cannot be undone."""
        return self._change_person(name, "withdraw", {"dry_run": dry_run})

    def reopen_slots(self, name: str, *, dry_run: bool = False) -> dict[str, Any]:
        """Ask other people the questions of a person whose answers do not count."""
        return self._change_person(name, "reopen", {"dry_run": dry_run})

    def _change_person(self, name: str, change: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
        path = f"{self.path}people/{quote(name, safe='')}/{change}/"
        return self._site.json("POST", path, makes=True, json=wanted)

    def flags(self) -> Rows:
        """Return the flags of its sessions with their verdicts. A flag excludes nobody by itself."""
        return Rows(lambda: self._site.rows(f"{self.path}flags/", limit=PAGE))

    def review_flag(self, id: int, verdict: str, note: str = "") -> dict[str, Any]:
        """Uphold or dismiss a flag: verdict is "upheld" or "dismissed". Raises LineupError."""
        return self._site.json(
            "POST", f"{self.path}flags/{id}/review/", makes=True, json={"verdict": verdict, "note": note}
        )

    def undo_flag_review(self, id: int) -> dict[str, Any]:
        """Undo the review of a flag; whoever was excluded with it is included again. Raises LineupError."""
        return self._site.json("POST", f"{self.path}flags/{id}/undo/", makes=True)

    def events(self) -> Rows:
        """Return who did what, newest first."""
        return Rows(lambda: self._site.rows(f"{self.path}events/"))

    def hub_pushes(self) -> Rows:
        """Return the pushes to the Hugging Face Hub, newest first."""
        return Rows(lambda: self._site.rows(f"{self.path}hub-pushes/"))

    def push_to_hub(self, release: str, repository: str, *, token: str, private: bool = True) -> HubPush:
        """Push a frozen release to a dataset repository of the Hub, OWNER/NAME, in the background.

        token: of the Hub, with write access. private: whether a new repository is private.
        """
        wanted = {"release": release, "repository": repository, "token": token, "private": private}
        told = self._site.json("POST", f"{self.path}hub-pushes/", makes=True, json=wanted)
        return HubPush(self._site, self.path, told)

    def study(self, slug: str) -> Study:
        """Return the study with this slug, without a request."""
        return Study(self._site, self.path, slug)
