"""Check that instances have the caption and image roles that a design needs."""

from studies.design import Design
from studies.errors import StudyError
from studies.kinds import Roles, get_kind
from studies.models import Instance, InstanceImage, Project, Study


def check_roles(project: Project, design: Design, fed_by: Study | None) -> None:
    """Raise StudyError if a design needs roles that no instance of `project` has or gains upstream.

    Passes if nothing is imported yet.
    """
    if not Instance.objects.filter(project=project).exists():
        return
    asked = [get_kind(part.kind).roles(part.ask) for part in design.parts]
    gained = _added_roles(fed_by)
    captions = dict.fromkeys(role for roles in asked for role in roles.captions if role not in gained.captions)
    images = dict.fromkeys(role for roles in asked for role in roles.images if role not in gained.images)
    problems = [
        *_missing_roles("caption", list(captions), _caption_roles(project, set(captions))),
        *_missing_roles("image", list(images), _image_roles(project)),
    ]
    if problems:
        raise StudyError(*problems)


def _added_roles(study: Study | None) -> Roles:
    """Return the roles that acceptance in `study` and all upstream studies adds to instances."""
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
    """Return the caption roles of instances of `project`; stop when all wanted ones were found."""
    found: set[str] = set()
    for captions in Instance.objects.filter(project=project).values_list("captions", flat=True).iterator():
        found |= set(captions)
        if wanted <= found:
            break
    return found


def _image_roles(project: Project) -> set[str]:
    uses = InstanceImage.objects.filter(instance__project=project).order_by()
    return set(uses.values_list("role", flat=True).distinct())


def _missing_roles(what: str, wanted: list[str], there: set[str]) -> list[str]:
    known = f"Their roles are: {', '.join(sorted(there))}." if there else f"They have no {what}s at all."
    return [
        f"`ask` names the role {role}, but no instance of the project has {what}s in it. {known}"
        for role in wanted
        if role not in there
    ]
