"""What the instances of a project have to be asked about: the roles of their captions and images."""

from studies.design import Design
from studies.errors import StudyError
from studies.kinds import Roles, get_kind
from studies.models import Instance, InstanceImage, Project, Study


def check_roles(project: Project, design: Design, fed_by: Study | None) -> None:
    """Raise StudyError when a design asks for roles that no instance of `project` has, nor gets on the way to it.

    Where nothing is imported yet, nothing can be said.
    """
    if not Instance.objects.filter(project=project).exists():
        return
    asked = [get_kind(part.kind).roles(part.ask) for part in design.parts]
    gained = _gained(fed_by)
    captions = dict.fromkeys(role for roles in asked for role in roles.captions if role not in gained.captions)
    images = dict.fromkeys(role for roles in asked for role in roles.images if role not in gained.images)
    problems = [
        *_lacking("caption", list(captions), _caption_roles(project, set(captions))),
        *_lacking("image", list(images), _image_roles(project)),
    ]
    if problems:
        raise StudyError(*problems)


def _gained(study: Study | None) -> Roles:
    """Return the roles that acceptance in `study`, and in those that feed it, adds to instances."""
    captions: set[str] = set()
    images: set[str] = set()
    while study is not None:
        for part in study.design.parts:
            added = get_kind(part.kind).adds_roles(part.ask)
            captions |= set(added.captions)
            images |= set(added.images)
        study = study.fed_by
    return Roles(sorted(captions), sorted(images))


def _caption_roles(project: Project, wanted: set[str]) -> set[str]:
    """Return the roles of captions that instances of `project` have; it stops where all that are wanted were seen."""
    found: set[str] = set()
    for captions in Instance.objects.filter(project=project).values_list("captions", flat=True).iterator():
        found |= set(captions)
        if wanted <= found:
            break
    return found


def _image_roles(project: Project) -> set[str]:
    uses = InstanceImage.objects.filter(instance__project=project).order_by()
    return set(uses.values_list("role", flat=True).distinct())


def _lacking(what: str, wanted: list[str], there: set[str]) -> list[str]:
    known = f"Their roles are: {', '.join(sorted(there))}." if there else f"They have no {what}s at all."
    return [
        f"`ask` names the role {role}, but no instance of the project has {what}s in it. {known}"
        for role in wanted
        if role not in there
    ]
