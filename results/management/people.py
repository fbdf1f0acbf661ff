"""Commands about one person, named by the pseudonym that the pages show, or by the id of who brought them."""

from abc import abstractmethod
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from annotation.actions.removing.removals import CannotRemove
from annotation.recruitment.prolific.entry import PROVIDER
from results.actions.participants import NamedAnnotator, find_person, identify_person
from results.errors import UnknownPerson
from studies.management.arguments import add_by, read_actor, read_project
from studies.models import Project
from studies.permissions import Verb


class PersonCommand(BaseCommand):
    """A command that changes something about a person of a project, for people who may do `verb` in it."""

    verb = Verb.REMOVE_PEOPLE

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="slug of the project")
        parser.add_argument(
            "annotator", metavar="PSEUDONYM", nargs="?", help="the annotator's pseudonym on the project's pages"
        )
        parser.add_argument("--provider-id", metavar="ID", help="instead of a pseudonym: their id at the provider")
        parser.add_argument("--provider", default=PROVIDER, help="who gave that id: prolific (the default) or invite")
        add_by(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        project = read_project(options["project"])
        by = read_actor(options, self.verb, project)
        person = read_person(project, options)
        try:
            self.change(person, options, project=project, by=by, now=timezone.now())
        except CannotRemove as error:
            raise CommandError(error.message) from error

    @abstractmethod
    def change(self, person: NamedAnnotator, options: dict[str, Any], **about: Any) -> None:
        """Make the change and print it. `about`: `project`, `by` and `now`, for the action."""


def read_person(project: Project, options: dict[str, Any]) -> NamedAnnotator:
    """Return the annotator that the options of a `PersonCommand` name. Raises CommandError.

    If an id is given, the user given by `--by` needs the right to identify people.
    """
    if options["provider_id"]:
        read_actor(options, Verb.IDENTIFY_PEOPLE, project)
    if bool(options["annotator"]) == bool(options["provider_id"]):
        raise CommandError("Name the person either by their PSEUDONYM or by --provider-id ID.")
    try:
        if options["annotator"]:
            return find_person(project=project, name=options["annotator"])
        return identify_person(
            project=project, provider=options["provider"], provider_id=options["provider_id"].strip()
        )
    except UnknownPerson as error:
        raise CommandError(str(error)) from error
