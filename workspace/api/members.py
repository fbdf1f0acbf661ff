"""Members of a project: list, invite, change roles, remove."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from studies.actions.projects.membership import DAYS, cancel_invitation, change_role, invite, remove_member
from studies.models import Invitation, Membership
from studies.permissions import Role, Verb, find_role
from workspace.api.framework.endpoints import ProjectEndpoint, verbs_by_method
from workspace.api.framework.idempotency import ShownOnce, idempotent
from workspace.api.framework.pagination import PageQuery, page_serializer, paginate
from workspace.api.framework.problems import Problem, Refused
from workspace.api.serializers import InvitationSerializer, MemberSerializer, NewInvitationSerializer
from workspace.mail import invitation_link, send_invitation

ROLES = [role.value for role in Role]


def _member_json(membership: Membership) -> dict[str, str]:
    return MemberSerializer(membership).data | {"role": str(find_role(membership.role) or membership.role)}


class Members(ProjectEndpoint):
    verbs = verbs_by_method(GET=Verb.VIEW)

    @extend_schema(operation_id="list_members", parameters=[PageQuery], responses=page_serializer(MemberSerializer))
    def get(self, request: Request, project: str) -> Response:
        """List the members of a project and their roles."""
        members = Membership.objects.filter(project=self.project).select_related("user")
        return paginate(request, members, lambda rows: list(map(_member_json, rows)))


class RoleSerializer(serializers.Serializer[Any]):
    role = serializers.ChoiceField(choices=ROLES)


class OneMember(ProjectEndpoint):
    # Everybody may end their own membership.
    verbs = verbs_by_method(PATCH=Verb.MANAGE_MEMBERS, DELETE=Verb.VIEW)

    @extend_schema(operation_id="change_role", request=RoleSerializer, responses=MemberSerializer)
    def patch(self, request: Request, project: str, username: str) -> Response:
        """Change a member's role."""
        role = self.read(RoleSerializer)["role"]
        change_role(membership=self._find_member(username), role=role, by=self.user, now=timezone.now())
        return Response(_member_json(self._find_member(username)))

    @extend_schema(operation_id="remove_member", responses={204: None})
    def delete(self, request: Request, project: str, username: str) -> Response:
        """Remove a member; what they created stays."""
        if username != self.user.get_username():
            self.require(Verb.MANAGE_MEMBERS)
        remove_member(membership=self._find_member(username), by=self.user, now=timezone.now())
        return Response(status=204)

    def _find_member(self, username: str) -> Membership:
        # PostgreSQL rejects NUL characters in a query.
        named = self.project.memberships.select_related("user", "project").filter(
            user__username=username.replace("\0", "")
        )
        found = named.first()
        if found is None:
            raise Refused(Problem("not-found", 404, "Nobody of that name is a member of the project."))
        return found


class WantedInvitationSerializer(serializers.Serializer[Any]):
    role = serializers.ChoiceField(choices=ROLES)
    days = serializers.ChoiceField(choices=DAYS, default=7, help_text="Days for which the link is valid.")
    whom = serializers.CharField(required=False, default="", allow_blank=True, help_text="A note on whom it is for.")
    mail = serializers.EmailField(
        required=False, default="", allow_blank=True, help_text="Address to mail the link to, if the site sends mail."
    )


class Invitations(ProjectEndpoint):
    verbs = verbs_by_method(GET=Verb.MANAGE_MEMBERS, POST=Verb.MANAGE_MEMBERS)

    @extend_schema(
        operation_id="list_invitations", parameters=[PageQuery], responses=page_serializer(InvitationSerializer)
    )
    def get(self, request: Request, project: str) -> Response:
        """List the invitations that can still be used, without their links."""
        found = Invitation.objects.open(timezone.now()).filter(project=self.project).select_related("made_by")
        return paginate(request, found, lambda rows: InvitationSerializer(rows, many=True).data)

    @extend_schema(
        operation_id="invite",
        request=WantedInvitationSerializer,
        responses={201: OpenApiResponse(NewInvitationSerializer, description="The link is shown only once.")},
    )
    @idempotent
    def post(self, request: Request, project: str) -> Response:
        """Create an invitation link for one person. It is shown once, and mailed to `mail`."""
        wanted = self.read(WantedInvitationSerializer)
        role, mail, whom = wanted["role"], wanted["mail"], wanted["whom"].strip() or wanted["mail"]
        days, now = wanted["days"], timezone.now()
        made, secret = invite(project=self.project, role=role, days=days, whom=whom, by=self.user, now=now)
        told = InvitationSerializer(made).data
        shown, kept = (told | {"link": link, "mailed": False} for link in (invitation_link(secret), None))
        return ShownOnce(
            shown, kept=kept, status=201, afterwards=lambda: {"mailed": send_invitation(made, secret, to=mail)}
        )


class OneInvitation(ProjectEndpoint):
    verbs = verbs_by_method(DELETE=Verb.MANAGE_MEMBERS)

    @extend_schema(operation_id="cancel_invitation", responses={204: None})
    def delete(self, request: Request, project: str, pk: int) -> Response:
        """Cancel an invitation, so that its link no longer works."""
        found = get_object_or_404(Invitation, project=self.project, pk=pk)
        cancel_invitation(invitation=found, by=self.user, now=timezone.now())
        return Response(status=204)
