from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_in


class WorkspaceConfig(AppConfig):
    name = "workspace"

    def ready(self) -> None:
        from workspace.signed_in_browsers import record_sign_in

        user_logged_in.connect(record_sign_in, dispatch_uid="workspace.record_sign_in")
