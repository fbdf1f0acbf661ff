"""Mapping page of an imported table: change what its columns are, until a study asks about its instances."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpRequest
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from background.tasks import send
from results.views.guards import Response, signed_in_user
from studies.actions.imports.change_mapping import (
    MappingRefused,
    instances_of,
    refuse_fixed_mapping,
    row_of,
)
from studies.actions.imports.import_jobs import request_mapping_change
from studies.importing.mapping import (
    IMAGE,
    OTHER,
    TARGETS,
    columns_of_role,
    differ_only_in_number,
    guess_role,
    target_and_role,
)
from studies.importing.mapping_change import targets_to_choose
from studies.models import Import, Instance, InstanceImage
from studies.permissions import Verb
from workspace.views.projects.imports import import_view
from workspace.views.projects.table_mapping import PICTURES_IN_A_CELL, posted_mapping, storable

ROWS_SHOWN = 5


@import_view(Verb.IMPORT)
@require_http_methods(["GET", "HEAD", "POST"])
def change(request: HttpRequest, one: Import) -> Response:
    """Show the mapping of an imported table, and change it in a job."""
    try:
        refuse_fixed_mapping(one)
    except MappingRefused as error:
        messages.error(request, str(error))
        return redirect("project_imports", one.project.slug)
    old = one.current_mapping
    rows = [(instance, row_of(instance, old)) for instance in instances_of(one).prefetch_related("images")[:ROWS_SHOWN]]
    columns = sorted({*old, *(column for _, fields in rows for column in fields)})
    chosen, problems = old, {}
    if request.method == "POST":
        chosen = posted_mapping(request, columns)
        try:
            asked = request_mapping_change(wanted=one, mapping=chosen, by=signed_in_user(request), now=timezone.now())
        except MappingRefused as error:
            problems = dict(error.by_column)
        else:
            if asked.job is not None:
                send(asked.job)
            return redirect("project_imports", one.project.slug)
    context = {
        "project": one.project,
        "files": one.names,
        "columns": [
            _column(number, column, old, chosen, rows) | {"problem": problems.get(column)}
            for number, column in enumerate(columns)
        ],
        "problem": problems.get(None),
        "problem_count": len(problems),
    }
    return render(request, "workspace/imports/change_mapping.html", context, status=409 if problems else 200)


def _column(
    number: int,
    column: str,
    old: Mapping[str, str],
    chosen: Mapping[str, str],
    rows: Sequence[tuple[Instance, Mapping[str, Any]]],
) -> dict[str, Any]:
    before, _ = target_and_role(old.get(column, OTHER))
    target, role = target_and_role(chosen.get(column, OTHER))
    return {
        "number": number,
        "name": column,
        "target": target,
        "role": role or guess_role(column),
        "targets": {name: TARGETS[name] for name in targets_to_choose(before)},
        "cells": [_cell(column, old, instance, fields) for instance, fields in rows],
    }


def _cell(column: str, old: Mapping[str, str], instance: Instance, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a page shows of a row: its text in a column, or the first images of the column's role."""
    target, role = target_and_role(old.get(column, OTHER))
    if target == IMAGE:
        together = [name for name, its in columns_of_role(old, IMAGE, list(old)) if its == role]
        images = sorted((use for use in instance.images.all() if use.role == role), key=lambda use: use.position)
        # The order of columns whose names have no numbers is not stored.
        if len(together) > 1 and differ_only_in_number(together) and len(images) == len(together):
            images = [images[together.index(column)]]
        pictures = [_picture(use) for use in images[:PICTURES_IN_A_CELL]]
        return {"pictures": pictures, "more": len(images[PICTURES_IN_A_CELL:])}
    value = instance.key if target == "key" else instance.reference.get("right", "") if target == "right" else ""
    text = fields.get(column, value)
    return {"text": storable(text if isinstance(text, str) else json.dumps(text, ensure_ascii=False))}


def _picture(use: InstanceImage) -> dict[str, Any]:
    if use.image_id is None:
        return {"name": f"{use.filename}: missing"}
    return {"name": use.filename, "address": reverse("image", args=[use.image_id, "card"])}
