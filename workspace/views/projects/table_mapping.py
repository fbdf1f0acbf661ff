"""Mapping page of an uploaded table: what each column is, beside its first rows."""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from results.views.guards import Response, refusal, visible_projects
from studies.actions.imports.import_state import ImportRefused
from studies.actions.imports.table_preview import SmallPictures, last_import_like, sample_of_upload
from studies.actions.imports.uploads import IMAGES, received_bytes, rows_of
from studies.descriptions import SET
from studies.importing import TABLE
from studies.importing.captions import CAPTION_RULES, RULE_TITLES
from studies.importing.mapping import (
    AS_CANDIDATES,
    AS_SET,
    CAPTION,
    IMAGE,
    OTHER,
    SEPARATELY,
    TARGETS,
    ColumnMapping,
    ImageGroup,
    columns_of_role,
    filenames_in,
    guess_mapping,
    guess_role,
    image_groups,
    is_picture,
    problems_with_mapping,
    target_and_role,
)
from studies.permissions import Verb
from workspace.views.projects.imports import AS_IS, start_import
from workspace.views.projects.uploads import own_upload

PICTURES_IN_A_CELL = 4
WAYS = {
    AS_SET: "Use as an image set",
    AS_CANDIDATES: "Use as candidates",
    SEPARATELY: "Give each its own role",
}


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def mapping(request: HttpRequest, pk: UUID) -> Response:
    """Say what each column of an uploaded table is, then check or import it."""
    upload = own_upload(request, pk)
    if refused := refusal(request, upload.project, Verb.IMPORT):
        return refused
    shown = sample_of_upload(upload)
    if shown.problem:
        messages.error(request, shown.problem)
        return redirect("new_import", upload.project.slug)
    last = last_import_like(upload.project, shown.columns, visible_projects(request))
    groups = image_groups(shown.columns, shown.rows)
    problems: dict[str | None, str] = {}
    if request.method == "POST":
        chosen = posted_mapping(request, shown.columns) | _regrouped(request, groups, shown.columns)
        given = {
            "caption_rule": request.POST.get("caption_rule", AS_IS),
            "images_later": "images_later" in request.POST,
        }
        is_regrouped = "group" in request.POST
        problems = {} if is_regrouped else problems_with_mapping(chosen, shown.columns)
        if not problems and not is_regrouped:
            try:
                return start_import(request, upload, format=TABLE, mapping=chosen, **given)
            except ImportRefused as error:
                problems = {None: error.problems[0].reason}
    else:
        chosen = dict(last.mapping if last is not None else guess_mapping(shown.columns, shown.rows))
        given = {
            "caption_rule": request.GET.get("caption_rule") or (last.caption_rule if last is not None else AS_IS),
            "images_later": "images_later" in request.GET or (last is not None and last.images_later),
        }
    small = SmallPictures(upload)
    columns = [
        _column(number, column, chosen.get(column, OTHER), shown.rows, small) | {"problem": problems.get(column)}
        for number, column in enumerate(shown.columns)
    ]
    if last is None and request.method != "POST":
        chosen |= _without_absent_images(columns, groups)
        for column in columns:
            column["target"] = target_and_role(chosen[column["name"]])[0]
    captions = columns_of_role(chosen, CAPTION, shown.columns)
    has_no_images = not received_bytes(upload, IMAGES)
    context = {
        "project": upload.project,
        "files": [file.name for file in rows_of(upload)],
        "columns": columns,
        "groups": [_group(number, group, chosen) for number, group in enumerate(groups)],
        "picture_in_header": next(filter(is_picture, shown.columns), ""),
        "lacks_images": has_no_images and any(column["lacks_images"] for column in columns),
        "has_no_images": has_no_images,
        "caption_rules": _caption_rules(shown.rows[0].get(captions[0][0]) if captions else ""),
        "given": given,
        "remembered": last is not None and request.method != "POST",
        "problem": problems.get(None),
        "problem_count": len(problems),
    }
    return render(request, "workspace/imports/mapping.html", context, status=409 if problems else 200)


def posted_mapping(request: HttpRequest, columns: Sequence[str]) -> dict[str, str]:
    """Return the mapping that a form says. A role that is left out is called like its target."""
    mapping = {}
    for number, column in enumerate(columns):
        target = request.POST.get(f"target-{number}", OTHER)
        role = request.POST.get(f"role-{number}", "").strip() or target
        mapping[column] = f"{target}:{role}" if target in {CAPTION, IMAGE} else target
    return mapping


def _column(
    number: int, column: str, entry: str, rows: Sequence[Mapping[str, Any]], small: SmallPictures
) -> dict[str, Any]:
    target, role = target_and_role(entry)
    cells = [_cell(row.get(column), small) for row in rows]
    return {
        "number": number,
        "name": column,
        "target": target,
        "role": role or guess_role(column),
        "targets": TARGETS,
        "cells": cells,
        "lacks_images": target == IMAGE
        and any(picture["is_missing"] for cell in cells for picture in cell.get("pictures", ())),
    }


def _without_absent_images(columns: Sequence[dict[str, Any]], groups: Sequence[ImageGroup]) -> dict[str, str]:
    """Make notes of columns that name pictures which were not sent, if those of another column were.

    A group of columns stays together: a picture of one of them may be missing.
    """
    absent = {column["name"] for column in columns if column["lacks_images"]}
    images = {column["name"] for column in columns if column["target"] == IMAGE}
    for group in groups:
        if not absent.issuperset(group.columns):
            absent.difference_update(group.columns)
    return dict.fromkeys(absent, OTHER) if absent < images else {}


def _regrouped(request: HttpRequest, groups: Sequence[ImageGroup], columns: Sequence[str]) -> dict[str, str]:
    """Return the mapping of the columns of the group whose button was pressed, such as "0:set"."""
    number, _, way = request.POST.get("group", "").partition(":")
    if way not in WAYS or not number.isdecimal() or int(number) >= len(groups):
        return {}
    group = groups[int(number)]
    others = [column for column in columns if column not in group.columns]
    taken = [role for _, role in columns_of_role(posted_mapping(request, columns), IMAGE, others)]
    return group.used_as(way, taken)


def _group(number: int, group: ImageGroup, chosen: ColumnMapping) -> dict[str, Any]:
    """Return what a page shows of a group: its columns, what its images become, and the other ways to use them."""
    entries = [chosen.get(column, OTHER) for column in group.columns]
    roles = {target_and_role(entry)[1] for entry in entries}
    if {target_and_role(entry)[0] for entry in entries} != {IMAGE}:
        way, becomes = "", "These are not all images."
    elif len(group.columns) > 1 and len(roles) == len(group.columns):
        way, becomes = SEPARATELY, "Images with their own roles, for studies that name each of them."
    elif len(roles) > 1:
        way, becomes = "", "Images of several roles."
    elif (role := roles.pop()).partition("_")[0] == SET:
        way, becomes = AS_SET, f"An image set, in this order, in the role {role}: for describing and retrieving."
    else:
        way, becomes = (
            AS_CANDIDATES,
            f"Images to choose from, called {role}-0 to {role}-{group.size - 1} in this order.",
        )
    ways = [name for name in WAYS if name != way and (name != SEPARATELY or len(group.columns) > 1)]
    return {
        "columns": " … ".join([group.columns[0], *group.columns[1:][-1:]]),
        "size": group.size,
        "becomes": becomes,
        "ways": [{"value": f"{number}:{name}", "title": WAYS[name]} for name in ways],
    }


def _cell(value: Any, small: SmallPictures) -> dict[str, Any]:
    """Return what a page shows of a cell: its text, and for pictures its first few as data addresses."""
    if not is_picture(value):
        text = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
        return {"text": storable(text)}
    names = filenames_in(value)
    pictures = [(name, small.small(name)) for name in names[:PICTURES_IN_A_CELL]]
    return {
        "pictures": [
            {"name": storable(name), "address": _data_address(data) if data else "", "is_missing": data is None}
            for name, data in pictures
        ],
        "more": len(names) - len(pictures),
    }


def storable(text: str) -> str:
    """Return a text without halves of characters, which no page can hold."""
    return text.encode(errors="replace").decode()


def _data_address(webp: bytes) -> str:
    return f"data:image/webp;base64,{b64encode(webp).decode()}"


def _caption_rules(example: Any) -> list[dict[str, str]]:
    """Return name, title and effect of every caption rule."""
    text = storable(example) if isinstance(example, str) else ""
    return [{"name": name, "title": RULE_TITLES[name], "example": rule(text)} for name, rule in CAPTION_RULES.items()]
