"""Template tag that renders a question."""

from typing import Any

from django import template
from django.utils.safestring import SafeString

from annotation.pages import QuestionPage, question_html

register = template.Library()


@register.simple_tag(takes_context=True)
def question(context: dict[str, Any], page: QuestionPage, *, lazy: bool = False) -> SafeString:
    """Return the HTML of `page`; the error in the context belongs to the question that is not `lazy`."""
    return question_html(
        page,
        text_language=context.get("text_language", ""),
        error="" if lazy else context.get("error", ""),
        is_final=context.get("is_final", False),
        lazy=lazy,
    )
