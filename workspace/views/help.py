from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@login_required
@require_safe
def help_page(request: HttpRequest) -> HttpResponse:
    """Show the way from files to a release, the terms of the pages, and their keys."""
    return render(request, "workspace/help.html")
