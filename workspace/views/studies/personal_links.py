"""Personal links for named people: computed from the names each time, not stored."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from annotation.actions.arriving.entry_links import personal_links as links_of
from annotation.recruitment.people_lists import parse_names
from results.views.guards import study_view
from studies.errors import StudyError
from studies.models import Study
from studies.permissions import Verb


@sensitive_post_parameters("names")
@study_view(Verb.RUN)
@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_variables()
def personal_links(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the link of each submitted name."""
    if not study.design.recruitment.invite:
        messages.info(request, "The study has no invite links: its file says `invite: false`.")
        return redirect("study_recruit", study.project.slug, study.slug)
    names = request.POST.get("names", "")
    links, problems = dict[str, str](), tuple[str, ...]()
    if request.method == "POST":
        try:
            listed = parse_names(names)
            links = links_of(study=study, names=listed)
            problems = () if listed else ("Write at least one name.",)
        except StudyError as error:
            problems = error.problems
    context = {"study": study, "names": names, "links": links, "problems": problems}
    return render(request, "workspace/personal_links.html", context, status=409 if problems else 200)
