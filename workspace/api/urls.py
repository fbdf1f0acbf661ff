"""URLs of the API."""

from django.urls import path, re_path

from results.actions.participant_changes import ACTS
from workspace.api import (
    answers,
    exports,
    flags,
    hub,
    images,
    imports,
    instances,
    members,
    people,
    predictions,
    projects,
    runs,
    studies,
    training,
    webhooks,
)
from workspace.api.framework import documentation
from workspace.api.framework.endpoints import NoSuchAddress

PROJECT = "v1/projects/<slug:project>/"
STUDY = f"{PROJECT}studies/<slug:study>/"

endpoints = [
    path("v1/me/", projects.Me.as_view(), name="api_me"),
    path("v1/projects/", projects.Projects.as_view(), name="api_projects"),
    path(PROJECT, projects.OneProject.as_view(), name="api_project"),
    path(f"{PROJECT}members/", members.Members.as_view(), name="api_members"),
    path(f"{PROJECT}members/<str:username>/", members.OneMember.as_view(), name="api_member"),
    path(f"{PROJECT}invitations/", members.Invitations.as_view(), name="api_invitations"),
    path(f"{PROJECT}invitations/<int:pk>/", members.OneInvitation.as_view(), name="api_invitation"),
    path(f"{PROJECT}people/", people.People.as_view(), name="api_people"),
    *(
        path(
            f"{PROJECT}people/<str:name>/{change}/",
            people.ChangePerson.as_view(),
            {"change": change},
            name=f"api_{change}_person",
        )
        for change in ACTS
    ),
    path(f"{PROJECT}flags/", flags.Flags.as_view(), name="api_flags"),
    path(f"{PROJECT}flags/<int:pk>/review/", flags.ReviewFlag.as_view(), name="api_review_flag"),
    path(f"{PROJECT}flags/<int:pk>/undo/", flags.UndoFlagReview.as_view(), name="api_undo_flag_review"),
    path(f"{PROJECT}uploads/", imports.Uploads.as_view(), name="api_uploads"),
    path(f"{PROJECT}uploads/<uuid:pk>/", imports.OneUpload.as_view(), name="api_upload"),
    path(f"{PROJECT}uploads/<uuid:pk>/<str:part>/", imports.Piece.as_view(), name="api_upload_piece"),
    path(f"{PROJECT}imports/", imports.Imports.as_view(), name="api_imports"),
    path(f"{PROJECT}imports/<int:pk>/", imports.OneImport.as_view(), name="api_import"),
    path(f"{PROJECT}imports/<int:pk>/cancel/", imports.CancelImport.as_view(), name="api_cancel_import"),
    path(f"{PROJECT}imports/<int:pk>/again/", imports.ImportAgain.as_view(), name="api_import_again"),
    path(f"{PROJECT}imports/<int:pk>/mapping/", imports.ImportMapping.as_view(), name="api_import_mapping"),
    path(f"{PROJECT}imports/<int:pk>/problems/", imports.ImportProblems.as_view(), name="api_import_problems"),
    path(f"{PROJECT}events/", projects.Events.as_view(), name="api_events"),
    path(f"{PROJECT}instances/", instances.Instances.as_view(), name="api_instances"),
    path(f"{PROJECT}instances/<int:pk>/", instances.OneInstance.as_view(), name="api_instance"),
    *(
        path(
            f"{PROJECT}instances/{change}/",
            instances.TagInstances.as_view(),
            {"change": change},
            name=f"api_{change}_instances",
        )
        for change in instances.TAGGING
    ),
    path(f"{PROJECT}images/missing/", images.Missing.as_view(), name="api_images_missing"),
    path(f"{PROJECT}images/<str:sha256>/", images.OneImage.as_view(), name="api_image"),
    path(f"{PROJECT}predictions/", predictions.Predictions.as_view(), name="api_predictions"),
    path(f"{PROJECT}runs/", runs.Runs.as_view(), name="api_runs"),
    path(f"{PROJECT}runs/<int:pk>/", runs.OneRun.as_view(), name="api_run"),
    path(f"{PROJECT}runs/<int:pk>/cancel/", runs.CancelRun.as_view(), name="api_cancel_run"),
    path(f"{PROJECT}runs/<int:pk>/go-on/", runs.ResumeRun.as_view(), name="api_resume_run"),
    path(f"{PROJECT}trainings/", training.Trainings.as_view(), name="api_trainings"),
    path(f"{PROJECT}trainings/<int:pk>/", training.OneTraining.as_view(), name="api_training"),
    path(f"{PROJECT}trainings/<int:pk>/cancel/", training.CancelTraining.as_view(), name="api_cancel_training"),
    path(f"{PROJECT}trainings/<int:pk>/resume/", training.ResumeTraining.as_view(), name="api_resume_training"),
    path(f"{PROJECT}trainings/<int:pk>/card/", training.TrainingCard.as_view(), name="api_training_card"),
    path(f"{PROJECT}trainings/<int:pk>/hub-pushes/", hub.ModelPushes.as_view(), name="api_model_pushes"),
    path(f"{PROJECT}model-pushes/<int:pk>/", hub.OneModelPush.as_view(), name="api_model_push"),
    path(f"{PROJECT}model-pushes/<int:pk>/cancel/", hub.CancelModelPush.as_view(), name="api_cancel_model_push"),
    path(f"{PROJECT}studies/", studies.Studies.as_view(), name="api_studies"),
    # No study can have this name: it would hide the address that checks files.
    path(f"{PROJECT}check-study/", studies.Check.as_view(), name="api_check_study"),
    path(STUDY, studies.OneStudy.as_view(), name="api_study"),
    *(
        path(f"{STUDY}{name}/", studies.Change.as_view(), {"change": name}, name=f"api_{name}_study")
        for name in studies.CHANGES
    ),
    path(f"{STUDY}more/", studies.AskMore.as_view(), name="api_ask_more"),
    path(f"{STUDY}jobs/<int:pk>/", studies.OneStudyJob.as_view(), name="api_study_job"),
    path(f"{STUDY}jobs/<int:pk>/cancel/", studies.CancelStudyJob.as_view(), name="api_cancel_study_job"),
    path(f"{STUDY}progress/", studies.Progress.as_view(), name="api_progress"),
    path(f"{STUDY}policies/", studies.Policies.as_view(), name="api_policies"),
    path(f"{STUDY}owed/", people.Owed.as_view(), name="api_owed"),
    path(f"{STUDY}sessions/", answers.Sessions.as_view(), name="api_sessions"),
    path(f"{STUDY}ratings/", answers.Ratings.as_view(), name="api_ratings"),
    path(f"{STUDY}responses/", answers.Responses.as_view(), name="api_responses"),
    path(f"{STUDY}decisions/", answers.Decisions.as_view(), name="api_decisions"),
    path(f"{STUDY}decisions/<int:pk>/settle/", people.Settle.as_view(), name="api_settle"),
    path(f"{STUDY}decisions/<int:pk>/unsettle/", people.Unsettle.as_view(), name="api_unsettle"),
    path(f"{STUDY}exports/", exports.Exports.as_view(), name="api_exports"),
    path(f"{STUDY}releases/", exports.Releases.as_view(), name="api_releases"),
    path(f"{PROJECT}exports/<int:pk>/", exports.OneExport.as_view(), name="api_export"),
    path(f"{PROJECT}exports/<int:pk>/cancel/", exports.Cancel.as_view(), name="api_cancel_export"),
    path(f"{PROJECT}exports/<int:pk>/file/", exports.ExportFile.as_view(), name="api_export_file"),
    path(f"{PROJECT}hub-pushes/", hub.HubPushes.as_view(), name="api_hub_pushes"),
    path(f"{PROJECT}hub-pushes/<int:pk>/", hub.OneHubPush.as_view(), name="api_hub_push"),
    path(f"{PROJECT}hub-pushes/<int:pk>/cancel/", hub.CancelHubPush.as_view(), name="api_cancel_hub_push"),
    path(f"{PROJECT}webhooks/", webhooks.Webhooks.as_view(), name="api_webhooks"),
    path(f"{PROJECT}webhooks/<int:pk>/", webhooks.OneWebhook.as_view(), name="api_webhook"),
    path(f"{PROJECT}webhooks/<int:pk>/key/", webhooks.Key.as_view(), name="api_webhook_key"),
    path(f"{PROJECT}webhooks/<int:pk>/try/", webhooks.TryOut.as_view(), name="api_try_webhook"),
    path(f"{PROJECT}webhooks/<int:pk>/on/", webhooks.SwitchOn.as_view(), name="api_switch_webhook_on"),
    path(f"{PROJECT}webhooks/<int:pk>/deliveries/", webhooks.Deliveries.as_view(), name="api_deliveries"),
    path(f"{PROJECT}deliveries/<int:pk>/repeat/", webhooks.Repeat.as_view(), name="api_repeat_delivery"),
]

urlpatterns = [
    *endpoints,
    path("schema/", documentation.schema, name="api_schema"),
    path("docs/", documentation.docs, name="api_docs"),
    re_path("", NoSuchAddress.as_view()),
]
