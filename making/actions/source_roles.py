"""The instances that a pipeline begins with, and whether they have the roles that its file names."""

from collections.abc import Iterator

from django.db.models import QuerySet

from making.actions.image_inputs import start_instances, with_image
from making.pipeline_file import START, PipelineFile, read_source
from studies.errors import StudyError
from studies.models import Instance, InstanceImage, Project


def source_instances(wanted: PipelineFile, project: Project) -> QuerySet[Instance]:
    """Return the instances that a pipeline begins with: those with the caption, and the image if it names one."""
    found = start_instances(project).filter(captions__has_key=wanted.start.role)
    return with_image(found, wanted.start.images) if wanted.start.images else found


def check_source_roles(wanted: PipelineFile, project: Project) -> None:
    """Raise StudyError if no instance has a role that the file names. Instances must be there already."""
    sources = source_instances(wanted, project)
    if not sources.exists():
        image = f" and an image in the role {wanted.start.images}" if wanted.start.images else ""
        raise StudyError(
            f"No instance of the project has a caption in the role {wanted.start.role}{image}. Import some, or name "
            "another role in `start`."
        )
    images = set(
        InstanceImage.objects.filter(instance__in=sources).order_by().values_list("role", flat=True).distinct()
    )
    for role in dict.fromkeys(_image_roles(wanted)):
        if role not in images:
            there = f"Their image roles are: {', '.join(sorted(images))}." if images else "They have no images."
            raise StudyError(f"No instance that the pipeline begins with has an image in the role {role}. {there}")
    for role in dict.fromkeys(_caption_roles(wanted)):
        if not sources.filter(captions__has_key=role).exists():
            raise StudyError(f"No instance that the pipeline begins with has a caption in the role {role}.")


def _image_roles(wanted: PipelineFile) -> Iterator[str]:
    for source in (read_source(text) for each in wanted.all_instances for text in each.images.values()):
        if source.stage == START:
            yield source.role
        elif source.stage not in wanted.by_name:
            yield source.stage


def _caption_roles(wanted: PipelineFile) -> Iterator[str]:
    for source in (read_source(text) for each in wanted.all_instances for text in each.captions.values()):
        if source.stage == START and source.role:
            yield source.role
