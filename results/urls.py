from django.contrib.auth.views import LogoutView
from django.urls import path, re_path

from results.views import (
    annotators,
    disagreements,
    drafts,
    exports,
    findings,
    health,
    instances,
    people,
    projects,
    releases,
    reports,
    sessions,
    studies,
)
from results.views.preview import preview
from results.views.sign_in import ChangePassword, SignIn

urlpatterns = [
    path("", projects.home, name="home"),
    path("sign-in/", SignIn.as_view(), name="sign_in"),
    path("sign-out/", LogoutView.as_view(), name="sign_out"),
    path("password/", ChangePassword.as_view(), name="change_password"),
    path("projects/<slug:slug>/", projects.project, name="project"),
    path("projects/<slug:slug>/instances/", instances.instances, name="instances"),
    path("projects/<slug:slug>/instances/by-id/<int:pk>/", instances.instance_by_id, name="instance_by_id"),
    path("projects/<slug:slug>/instances/<path:key>/", instances.instance, name="instance"),
    path("projects/<slug:slug>/dataset/", projects.dataset, name="project_dataset"),
    path("projects/<slug:slug>/events/", projects.events, name="project_events"),
    path("projects/<slug:slug>/people/find/", people.find, name="find_person"),
    *(
        path(f"projects/<slug:slug>/people/<slug:name>/{name}/", people.change, {"change": name}, name=f"{name}_person")
        for name in people.CHANGES
    ),
    path("projects/<slug:slug>/results/", findings.project_results, name="project_results"),
    path("projects/<slug:slug>/report/<slug:format>/", reports.report, name="project_report"),
    path("studies/<slug:project>/<slug:slug>/", studies.study, name="study"),
    path("studies/<slug:project>/<slug:slug>/progress/", studies.progress, name="study_progress"),
    *(
        path(f"studies/<slug:project>/<slug:slug>/{name}/", studies.change, {"name": name}, name=f"study_{name}")
        for name in studies.CHANGES
    ),
    path("studies/<slug:project>/<slug:slug>/file/", drafts.file, name="study_file"),
    path("studies/<slug:project>/<slug:slug>/duplicate/", drafts.duplicate, name="study_duplicate"),
    path("studies/<slug:project>/<slug:slug>/delete/", drafts.delete, name="study_delete"),
    path("studies/<slug:project>/<slug:slug>/exports/", exports.request_one, name="study_exports"),
    path("studies/<slug:project>/<slug:slug>/releases/", releases.releases, name="study_releases"),
    path("releases/<int:pk>/provider-ids/", releases.people, name="release_people"),
    path("studies/<slug:project>/<slug:slug>/results/", findings.study_results, name="study_results"),
    path("studies/<slug:project>/<slug:slug>/disagreements/", disagreements.disagreements, name="study_disagreements"),
    path(
        "studies/<slug:project>/<slug:slug>/disagreements/<int:question>/settle/", disagreements.settle, name="settle"
    ),
    path(
        "studies/<slug:project>/<slug:slug>/disagreements/<int:question>/unsettle/",
        disagreements.unsettle,
        name="unsettle",
    ),
    path("studies/<slug:project>/<slug:slug>/annotators/", annotators.annotators, name="study_annotators"),
    path("studies/<slug:project>/<slug:slug>/returned/", sessions.returned, name="session_returned"),
    path("studies/<slug:project>/<slug:slug>/sessions/<int:session>/free/", sessions.free, name="free_seat"),
    path("studies/<slug:project>/<slug:slug>/preview/", preview, name="study_preview"),
    # What a study's address was before its project stood in it: last, so that every page of today comes first.
    re_path(r"^studies/[-\w]+/(?:.+/)?$", studies.old_address, name="old_study_address"),
    path("exports/<int:pk>/", exports.status, name="export"),
    path("exports/<int:pk>/cancel/", exports.cancel, name="export_cancel"),
    path("exports/<int:pk>/download/", exports.download, name="export_download"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
]
