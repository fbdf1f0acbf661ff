from django.utils.safestring import mark_safe

from results.templatetags.refusals import with_code


def test_names_between_backticks_are_code_and_everything_is_escaped() -> None:
    assert with_code("`instances.from` names <b>") == "<code>instances.from</code> names &lt;b&gt;"
    assert with_code("`<i>` and one ` alone") == "<code>&lt;i&gt;</code> and one ` alone"


def test_a_sentence_with_a_link_keeps_it() -> None:
    assert with_code(mark_safe('See <a href="/">`that`</a>')) == 'See <a href="/"><code>that</code></a>'
