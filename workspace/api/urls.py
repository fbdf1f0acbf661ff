"""The addresses of the API."""

from django.urls import path, re_path

from workspace.api import (
    answers,
    documentation,
    exports,
    images,
    instances,
    predictions,
    projects,
    studies,
)
from workspace.api.endpoints import NoSuchAddress

PROJECT = "v1/projects/<slug:project>/"
STUDY = f"{PROJECT}studies/<slug:study>/"

endpoints = [
    path("v1/me/", projects.Me.as_view(), name="api_me"),
    path("v1/projects/", projects.Projects.as_view(), name="api_projects"),
    path(PROJECT, projects.OneProject.as_view(), name="api_project"),
    path(f"{PROJECT}members/", projects.Members.as_view(), name="api_members"),
    path(f"{PROJECT}events/", projects.Events.as_view(), name="api_events"),
    path(f"{PROJECT}instances/", instances.Instances.as_view(), name="api_instances"),
    path(f"{PROJECT}instances/<int:pk>/", instances.OneInstance.as_view(), name="api_instance"),
    path(f"{PROJECT}images/missing/", images.Missing.as_view(), name="api_images_missing"),
    path(f"{PROJECT}images/<str:sha256>/", images.OneImage.as_view(), name="api_image"),
    path(f"{PROJECT}predictions/", predictions.Predictions.as_view(), name="api_predictions"),
    path(f"{PROJECT}studies/", studies.Studies.as_view(), name="api_studies"),
    # No study can be called so: it would be where files are checked.
    path(f"{PROJECT}check-study/", studies.Check.as_view(), name="api_check_study"),
    path(STUDY, studies.OneStudy.as_view(), name="api_study"),
    *(
        path(f"{STUDY}{name}/", studies.Change.as_view(), {"change": name}, name=f"api_{name}_study")
        for name in studies.CHANGES
    ),
    path(f"{STUDY}progress/", studies.Progress.as_view(), name="api_progress"),
    path(f"{STUDY}sessions/", answers.Sessions.as_view(), name="api_sessions"),
    path(f"{STUDY}responses/", answers.Responses.as_view(), name="api_responses"),
    path(f"{STUDY}decisions/", answers.Decisions.as_view(), name="api_decisions"),
    path(f"{STUDY}exports/", exports.Exports.as_view(), name="api_exports"),
    path(f"{STUDY}releases/", exports.Releases.as_view(), name="api_releases"),
    path(f"{PROJECT}exports/<int:pk>/", exports.OneExport.as_view(), name="api_export"),
    path(f"{PROJECT}exports/<int:pk>/cancel/", exports.Cancel.as_view(), name="api_cancel_export"),
    path(f"{PROJECT}exports/<int:pk>/file/", exports.ExportFile.as_view(), name="api_export_file"),
]

urlpatterns = [
    *endpoints,
    path("schema/", documentation.schema, name="api_schema"),
    path("docs/", documentation.docs, name="api_docs"),
    re_path("", NoSuchAddress.as_view()),
]
