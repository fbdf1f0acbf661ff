from django.urls import path

from results.views import (
    annotators,
    disagreements,
    exports,
    findings,
    instances,
    owed,
    parted,
    people,
    releases,
    reports,
    selection,
)

urlpatterns = [
    path("projects/<slug:slug>/instances/", instances.instances, name="instances"),
    path("projects/<slug:slug>/instances/by-id/<int:pk>/", instances.instance_by_id, name="instance_by_id"),
    path("projects/<slug:slug>/instances/<path:key>/", instances.instance, name="instance"),
    path("projects/<slug:slug>/chosen/tag/", selection.tag, name="tag_instances"),
    path("projects/<slug:slug>/chosen/export/", selection.export, name="export_instances"),
    path("projects/<slug:slug>/chosen/ask-again/", selection.ask, name="ask_again"),
    path("projects/<slug:slug>/people/find/", people.find, name="find_person"),
    *(
        path(f"projects/<slug:slug>/people/<slug:name>/{name}/", people.change, {"change": name}, name=f"{name}_person")
        for name in people.CHANGES
    ),
    path("projects/<slug:slug>/results/", findings.project_results, name="project_results"),
    path("projects/<slug:slug>/people-and-models/", parted.parted, name="project_parted"),
    path("projects/<slug:slug>/report/<slug:format>/", reports.report, name="project_report"),
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
    path("studies/<slug:project>/<slug:slug>/owed/", owed.owed, name="study_owed"),
    path("studies/<slug:project>/<slug:slug>/owed.csv", owed.owed_csv, name="study_owed_csv"),
    path("exports/<int:pk>/", exports.status, name="export"),
    path("exports/<int:pk>/cancel/", exports.cancel, name="export_cancel"),
    path("exports/<int:pk>/download/", exports.download, name="export_download"),
]
