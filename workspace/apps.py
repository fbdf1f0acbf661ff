from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_in


class WorkspaceConfig(AppConfig):
    name = "workspace"

    def ready(self) -> None:
        from workspace.signed_in_browsers import note_sign_in

        user_logged_in.connect(note_sign_in, dispatch_uid="workspace.note_sign_in")
