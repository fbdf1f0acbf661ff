from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.minimum_pay import CURRENCY, minimum_hourly_pay


@login_required
@require_safe
def help_page(request: HttpRequest) -> HttpResponse:
    """Show the way from files to a release, the terms of the pages, and their keys."""
    context = {"least_hourly_pay": minimum_hourly_pay(CURRENCY), "currency": CURRENCY}
    return render(request, "workspace/help.html", context)
