"""A design in sentences: what is asked, of what, of whom, and for what pay. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from studies.design.model import Design
from studies.kinds import Kind, get_kind, role_entries
from studies.policies import Act, PolicyFacts, get_policy
from studies.wording import format_count, format_money

_PURPOSES = {
    "filter": "Its answers accept or reject instances, by the rule {rule}.",
    "baseline": "It measures how often people are right; nothing is accepted or rejected.",
    "pilot": "It is a pilot: a trial before the real study. Rule: {rule}.",
    "qualification": "It finds out who qualifies for other studies.",
    "collection": "It collects answers; a question is accepted by the rule {rule}.",
}


def describe_design(design: Design, *, answers: int, most_answers: int, questions: int = 0) -> list[str]:
    """Return sentences on everything in a design that decides what people do, see and get.

    answers, most_answers: per question, with those added after the launch. questions: their number, 0 before a launch.
    """
    return [
        *describe_questions(design),
        f"Asked about: {_instances(design)}.",
        _answers(answers, most_answers, questions),
        _surveys(design),
        _PURPOSES[design.purpose].format(rule=design.rule),
        *_people(design),
        _pay(design),
    ]


def _join_words(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1] if words else ""]))


def describe_questions(design: Design) -> Iterator[str]:
    """Yield what each part of a design asks, about which captions and images, and which answers are right."""
    for part in design.parts:
        kind = get_kind(part.kind)
        roles = "; ".join(_roles(kind, part.ask))
        yield f"{kind.title}. {roles[0].upper()}{roles[1:]}." if roles else f"{kind.title}."
        right = [(variant, kind.right_option(part.ask, variant)) for variant in kind.variants(part.ask)]
        if known := [f"{option} for {variant}" for variant, option in right if option]:
            yield f"Right answers: {_join_words(known)}."


def _roles(kind: Kind, ask: Mapping[str, Any]) -> Iterator[str]:
    """Yield which roles of an instance fill each part of a question, except a part that is called like its role."""
    for name, of in role_entries(kind).items():
        roles = [ask[name]] if isinstance(ask[name], str) else ask[name]
        if not any(roles) or roles in ([name], [name.removesuffix("s")]):
            continue
        one = of.removesuffix("s")
        part, has = (name if one in name else f"{name} {one}"), ("have" if name.endswith("s") else "has")
        yield f"the {part} {has} the role{'s' * (len(roles) > 1)} {_join_words(roles)}"


def _instances(design: Design) -> str:
    chosen = design.instances
    what = "all instances of the project"
    if chosen.from_study:
        what = f"what {chosen.from_study} accepts"
    if chosen.sample is not None:
        what = f"a random sample of {chosen.sample:,} of {what}"
    kept = [f"{name} {_join_words(each)}" for name in ("type", "subtype", "split") if (each := getattr(chosen, name))]
    if chosen.tags:
        kept.append(f"{'one of the tags' if len(chosen.tags) > 1 else 'the tag'} {_join_words(chosen.tags)}")
    if chosen.keys:
        kept.append(f"one of {format_count(len(chosen.keys), 'key')}")
    return f"{what} with {_join_words(kept)}" if kept else what


def _answers(answers: int, most: int, questions: int) -> str:
    each = f"Each of {format_count(questions, 'question')}" if questions > 1 else "Each question"
    more = f"; an undecided one gets up to {most}" if most > answers else ""
    return f"{each} gets {format_count(answers, 'answer')}{more}."


def _surveys(design: Design) -> str:
    layout = design.surveys
    doubled = (
        f"{format_count(layout.double_seats, 'survey')} {'is' if layout.double_seats == 1 else 'are'} answered twice"
    )
    return f"A survey has about {format_count(layout.size, 'question')}" + (
        f"; {doubled} to measure agreement." if layout.double_seats else "."
    )


def _people(design: Design) -> Iterator[str]:
    recruitment = design.recruitment
    ways = ["from Prolific"] * recruitment.prolific + ["by invitation link"] * recruitment.invite
    taken = recruitment.sessions_per_annotator
    yield (
        f"People come {_join_words(ways)}; "
        f"each takes {format_count(taken, 'survey') if taken else 'any number of surveys'}."
    )
    if design.eligibility:
        rules = [f"{each.rule} ({', '.join(map(str, each.parameters.values()))})" for each in design.eligibility]
        yield f"Who may take part: {_join_words(rules)}."
    if practice := design.practice.questions:
        yield f"{format_count(len(practice), 'practice question')} first; {design.practice.needed} must be right."
    consent = "give consent first" if design.consent else "see no consent page"
    yield f"They {consent}, and write to {design.contact or 'nobody yet'}."
    if checks := design.checks_per_survey:
        yield f"Each survey has {format_count(checks, 'quality check')} besides its questions."
    if design.policies:
        yield f"Policies: {'; '.join(_policies(design))}."


def _policies(design: Design) -> Iterator[str]:
    """Yield the title of each policy, and the bound at which it pauses the study."""
    for each in design.policies:
        policy = get_policy(each.policy)
        bound = policy.judge(each.parameters, PolicyFacts(currency=design.pay.currency)).bound
        title = f"{policy.title[0].lower()}{policy.title[1:]}"
        yield f"{title} ({bound})" if policy.act is Act.PAUSE else title


def _pay(design: Design) -> str:
    pay, minutes = design.pay, design.time.estimated_minutes
    paid = [format_money(pay.per_session, pay.currency)] * bool(pay.per_session)
    paid += [f"{format_money(pay.per_answer, pay.currency)} for each answer"] * bool(pay.per_answer)
    reward = f"The pay is {_join_words(paid)}" if paid else "It is unpaid"
    return f"A survey takes about {format_count(minutes, 'minute')}. {reward}."
