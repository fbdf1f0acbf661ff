"""Admin for the operator: projects and members can be edited, everything else is read-only."""

from typing import Any, cast

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Model
from django.http import HttpRequest
from django.utils import timezone

from studies.actions.events import What, record
from studies.models import Image, Instance, InstanceImage, Membership, Project, Question, Study, Survey
from studies.permissions import find_role


class ReadOnly:
    """Read-only rows made by imports and launches; a manual change would break data that depends on them."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    has_change_permission = has_delete_permission = has_add_permission


def _record(request: HttpRequest, project: Project, what: What, **details: Any) -> None:
    record(project=project, what=what, by=cast(User, request.user), now=timezone.now(), **details)


class MembershipForm(forms.ModelForm[Membership]):
    """Show a role stored under a former name as its current one; otherwise the form would preselect owner."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if stored := self.initial.get("role"):
            self.initial["role"] = find_role(stored) or stored


class MembershipInline(admin.TabularInline[Membership, Project]):
    model = Membership
    form = MembershipForm
    autocomplete_fields = ("user",)
    extra = 0


@admin.register(Project)
class ProjectAdmin(admin.ModelAdmin[Project]):
    list_display = ("slug", "name", "created_at")
    search_fields = ("slug", "name")
    inlines = (MembershipInline,)
    # Set on the project's page.
    exclude = ("dataset",)

    def save_model(self, request: HttpRequest, obj: Project, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if not change or form.changed_data:
            what = What.PROJECT_CHANGED if change else What.PROJECT_MADE
            _record(request, obj, what, **({"changed": form.changed_data} if change else {}))

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        """Save the memberships and record an event for each one added, changed or removed."""
        super().save_formset(request, form, formset, change)
        changed = [membership for membership, _ in formset.changed_objects]
        for what, memberships in (
            (What.MEMBER_ADDED, formset.new_objects),
            (What.MEMBER_CHANGED, changed),
            (What.MEMBER_REMOVED, formset.deleted_objects),
        ):
            for each in memberships:
                _record(request, form.instance, what, member=each.user.get_username(), role=each.role)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class InstanceImageInline(ReadOnly, admin.TabularInline[InstanceImage, Instance]):
    model = InstanceImage


@admin.register(Instance)
class InstanceAdmin(ReadOnly, admin.ModelAdmin[Instance]):
    list_display = ("key", "project", "type", "subtype", "split", "source_file", "source_row")
    list_filter = ("project", "type", "subtype")
    list_select_related = ("project",)
    search_fields = ("key",)
    inlines = (InstanceImageInline,)


@admin.register(Image)
class ImageAdmin(ReadOnly, admin.ModelAdmin[Image]):
    list_display = ("sha256", "format", "width", "height", "byte_size", "created_at")
    search_fields = ("sha256",)
    # No longer used: `InstanceImage` has them.
    exclude = ("source", "licence", "generator")


@admin.register(Study)
class StudyAdmin(ReadOnly, admin.ModelAdmin[Study]):
    list_display = ("slug", "project", "kind", "rule", "state", "launched_at")
    list_filter = ("state", "kind")
    list_select_related = ("project",)
    search_fields = ("slug", "title")
    # The token opens the study to anybody; the secret reveals the order of options.
    exclude = ("invite_token", "order_secret")


@admin.register(Survey)
class SurveyAdmin(ReadOnly, admin.ModelAdmin[Survey]):
    list_display = ("study", "number", "seats_planned")
    list_select_related = ("study",)


@admin.register(Question)
class QuestionAdmin(ReadOnly, admin.ModelAdmin[Question]):
    list_display = ("id", "study", "instance", "kind", "answers_wanted")
    list_select_related = ("study", "instance")
    search_fields = ("=instance__key",)
