"""What a question is called in rows that leave."""

from studies.models import Question, Study


def task_name(study: Study, key: str, kind: str, variant: str, source: tuple[str, int] = ("", 0)) -> str:
    """Return what names a question within its study: the instance, and where several are asked about it, which.

    source: the type and id of what it was made from, which tells apart what is asked about several answers or
    descriptions of one instance: "kitchen/response-17".
    """
    several = len(study.design.parts) > 1 or variant
    made_from = f"{source[0]}-{source[1]}" if source[0] else ""
    return "/".join(filter(None, (key, kind, variant, made_from) if several else (key, made_from)))


def question_name(question: Question) -> str:
    """Return what names `question`, read with its study and instance, in rows that leave."""
    source = (question.source_type, question.source_id)
    return task_name(question.study, question.instance.key, question.kind, question.variant, source)
