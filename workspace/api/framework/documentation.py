"""The schema of the API and its page. Both are public: they contain nothing of the site's data."""

import json
from functools import cache
from typing import Any

import yaml
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator

YAML = "application/vnd.oai.openapi"


def schema_of_api() -> dict[str, Any]:
    """Return the OpenAPI 3 schema as plain values."""
    schema: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return schema


@cache
def schema_as_yaml() -> str:
    return str(yaml.safe_dump(schema_of_api(), sort_keys=False, allow_unicode=True, width=1000))


@cache
def _schema_as_json() -> str:
    return json.dumps(schema_of_api())


@require_safe
@cache_control(public=True, max_age=3600)
def schema(request: HttpRequest) -> HttpResponse:
    """Serve the OpenAPI 3 schema, in YAML unless JSON is asked for."""
    if "json" in request.headers.get("Accept", ""):
        return HttpResponse(_schema_as_json(), content_type=f"{YAML}+json")
    return HttpResponse(schema_as_yaml(), content_type=f"{YAML}; charset=utf-8")


@require_safe
@cache_control(private=True, no_cache=True)
def docs(request: HttpRequest) -> HttpResponse:
    """Show the schema in Swagger UI, where people can try it."""
    return render(request, "workspace/api_docs.html")
