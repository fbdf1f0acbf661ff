"""The schema of the API, and the page that shows it; both say nothing of what the site holds, so anybody may read."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView


class Schema(SpectacularAPIView):
    """OpenAPI 3, in YAML unless JSON is asked for."""

    authentication_classes = ()
    permission_classes = ()

    @extend_schema(exclude=True)
    def get(self, request, *args, **kwargs):  # type: ignore[no-untyped-def]
        return super().get(request, *args, **kwargs)


@require_safe
@cache_control(private=True, no_cache=True)
def docs(request: HttpRequest) -> HttpResponse:
    return render(request, "workspace/api_docs.html")
