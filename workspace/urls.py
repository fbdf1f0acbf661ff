from django.contrib.auth.views import LogoutView
from django.urls import path, re_path

from workspace.views import (
    drafts,
    health,
    imports,
    joining,
    members,
    models,
    project_settings,
    projects,
    questions,
    sessions,
    studies,
    tokens,
    uploads,
)
from workspace.views.forgotten import ChooseAnother, Forgotten, Sent
from workspace.views.preview import preview
from workspace.views.sign_in import ChangePassword, SignIn

urlpatterns = [
    path("", projects.home, name="home"),
    path("sign-in/", SignIn.as_view(), name="sign_in"),
    path("sign-out/", LogoutView.as_view(), name="sign_out"),
    path("forgotten/", Forgotten.as_view(), name="forgotten"),
    path("forgotten/sent/", Sent.as_view(), name="forgotten_sent"),
    path("forgotten/<uidb64>/<token>/", ChooseAnother.as_view(), name="choose_another"),
    path("password/", ChangePassword.as_view(), name="change_password"),
    path("invitations/<str:secret>/", joining.invitation, name="invitation"),
    path("new-project/", project_settings.new, name="new_project"),
    path("projects/<slug:slug>/members/", members.members, name="project_members"),
    path("projects/<slug:slug>/members/invite/", members.invite, name="invite_member"),
    path("projects/<slug:slug>/members/<int:pk>/role/", members.change_role, name="change_role"),
    path("projects/<slug:slug>/members/<int:pk>/remove/", members.remove, name="remove_member"),
    path("projects/<slug:slug>/invitations/<int:pk>/cancel/", members.cancel_invitation, name="cancel_invitation"),
    path("projects/<slug:slug>/name/", project_settings.rename, name="rename_project"),
    path("projects/<slug:slug>/archive/", project_settings.archive, name="archive_project"),
    path("tokens/", tokens.tokens, name="tokens"),
    path("tokens/<int:pk>/revoke/", tokens.revoke, name="revoke_token"),
    path("projects/<slug:slug>/", projects.project, name="project"),
    path("projects/<slug:slug>/dataset/", projects.dataset, name="project_dataset"),
    path("projects/<slug:slug>/events/", projects.events, name="project_events"),
    path("projects/<slug:slug>/new-study/", drafts.new, name="new_study"),
    path("projects/<slug:slug>/imports/", imports.imports, name="project_imports"),
    path("projects/<slug:slug>/imports/new/", imports.new, name="new_import"),
    path("projects/<slug:slug>/uploads/", uploads.begin, name="begin_upload"),
    path("uploads/<uuid:pk>/", uploads.upload, name="upload"),
    path("uploads/<uuid:pk>/<str:part>/", uploads.piece, name="upload_piece"),
    path("imports/<int:pk>/", imports.status, name="import"),
    path("imports/<int:pk>/cancel/", imports.cancel, name="import_cancel"),
    path("imports/<int:pk>/again/", imports.again, name="import_again"),
    path("imports/<int:pk>/problems/", imports.problems, name="import_problems"),
    path("projects/<slug:slug>/models/", models.models, name="project_models"),
    path("models/<int:pk>/rename/", models.rename, name="model_rename"),
    path("models/<int:pk>/delete/", models.delete, name="model_delete"),
    path("runs/<int:pk>/", models.status, name="run"),
    path("runs/<int:pk>/cancel/", models.cancel, name="run_cancel"),
    path("runs/<int:pk>/go-on/", models.go_on, name="run_go_on"),
    path("studies/<slug:project>/<slug:slug>/", studies.study, name="study"),
    path("studies/<slug:project>/<slug:slug>/progress/", studies.progress, name="study_progress"),
    *(
        path(f"studies/<slug:project>/<slug:slug>/{name}/", studies.change, {"name": name}, name=f"study_{name}")
        for name in studies.CHANGES
    ),
    path("studies/<slug:project>/<slug:slug>/file/", drafts.file, name="study_file"),
    path("studies/<slug:project>/<slug:slug>/duplicate/", drafts.duplicate, name="study_duplicate"),
    path("studies/<slug:project>/<slug:slug>/delete/", drafts.delete, name="study_delete"),
    path("studies/<slug:project>/<slug:slug>/returned/", sessions.returned, name="session_returned"),
    path("studies/<slug:project>/<slug:slug>/sessions/<int:session>/free/", sessions.free, name="free_seat"),
    path("studies/<slug:project>/<slug:slug>/questions/<int:question>/", questions.in_or_out, name="study_question"),
    path("studies/<slug:project>/<slug:slug>/preview/", preview, name="study_preview"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    # What a study's address was before its project stood in it: last, so that every page of today comes first.
    re_path(r"^studies/[-\w]+/(?:.+/)?$", studies.old_address, name="old_study_address"),
]
