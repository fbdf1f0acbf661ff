"""Names of questions in exported rows."""

from studies.models import Question, Study


def task_name(study: Study, key: str, kind: str, variant: str, source: tuple[str, int] = ("", 0)) -> str:
    """Return the name of a question within its study: the instance, and which question if there are several.

    source: type and id of the source of the question. It separates questions about several answers or descriptions of
    one instance: "kitchen/response-17".
    """
    several = len(study.design.parts) > 1 or variant
    made_from = f"{source[0]}-{source[1]}" if source[0] else ""
    return "/".join(filter(None, (key, kind, variant, made_from) if several else (key, made_from)))


def question_name(question: Question) -> str:
    """Return the exported name of `question`, read with its study and instance."""
    source = (question.source_type, question.source_id)
    return task_name(question.study, question.instance.key, question.kind, question.variant, source)
