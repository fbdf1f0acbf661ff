"""The addresses of the researcher's pages, and what everybody gets from each; their numbers are those of
`tests.workspace.views.named`."""

SIGN_IN, NOT_FOUND, NOT_ALLOWED, FINE, ELSEWHERE = "sign in", 404, 405, 200, 302

# What somebody gets from an address by GET and by POST.
Gets = tuple[int, int]
LOOK: Gets = (FINE, NOT_ALLOWED)
NO: Gets = (403, 403)


def all_alike(gets: Gets) -> dict[str, Gets]:
    return {"viewer": gets, "editor": gets, "owner": gets}


def changing(gets: Gets, *, viewer: Gets = NO) -> dict[str, Gets]:
    return {"viewer": viewer, "editor": gets, "owner": gets}


def owners_alone(gets: Gets) -> dict[str, Gets]:
    return {"viewer": NO, "editor": NO, "owner": gets}


# Of a chart that is drawn.
DIGEST = "0" * 64
# address -> role -> what somebody of that role gets. A study in the draft state has the slug "draft".
PRIVATE = {
    "/projects/birds/": all_alike(LOOK),
    "/projects/birds/members/": all_alike(LOOK),
    # Without a role. The membership is somebody else's.
    "/projects/birds/members/invite/": owners_alone((ELSEWHERE, 409)),
    "/projects/birds/members/1/role/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    "/projects/birds/members/1/remove/": owners_alone((FINE, ELSEWHERE)),
    "/projects/birds/invitations/1/cancel/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    # Without a name.
    "/projects/birds/name/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    # With an open study.
    "/projects/birds/archive/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    # With an open study; none is planned.
    "/projects/birds/delete/": owners_alone((FINE, 409)),
    "/projects/birds/delete/cancel/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    # Without a name.
    "/projects/birds/groups/": owners_alone((FINE, 409)),
    # Without an address.
    "/projects/birds/panel/": owners_alone((FINE, 409)),
    "/projects/birds/panel/1/remove/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    # Without a token.
    "/projects/birds/prolific/": owners_alone((FINE, 409)),
    # Under a key that the site does not have.
    "/projects/birds/prolific/try/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    "/projects/birds/prolific/webhooks/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    "/projects/birds/prolific/workspace/": owners_alone((ELSEWHERE, ELSEWHERE)),
    "/projects/birds/prolific/remove/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    # Without an address; with none of the choices.
    "/projects/birds/webhooks/": owners_alone((FINE, 409)),
    "/projects/birds/webhooks/1/key/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    "/projects/birds/webhooks/1/try/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    "/projects/birds/webhooks/1/on/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    "/projects/birds/webhooks/1/delete/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    "/projects/birds/deliveries/1/repeat/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    "/projects/birds/instances/": all_alike(LOOK),
    "/projects/birds/instances/row-1/": all_alike(LOOK),
    "/projects/birds/instances/by-id/1/": all_alike(LOOK),
    # Without an instance.
    "/projects/birds/chosen/tag/": changing((FINE, 409)),
    "/projects/birds/chosen/export/": changing((FINE, 409)),
    "/projects/birds/chosen/ask-again/": changing((FINE, 409)),
    "/projects/birds/chosen/take-out/": changing((FINE, 409)),
    "/projects/birds/people/A-34679/withdraw/": changing((FINE, ELSEWHERE)),
    # Without a reason.
    "/projects/birds/people/A-34679/exclude/": changing((FINE, 409)),
    # Of somebody who is not excluded.
    "/projects/birds/people/A-34679/include/": changing((409, 409)),
    "/projects/birds/people/A-34679/reopen/": changing((409, 409)),
    "/projects/birds/people/": all_alike(LOOK),
    "/projects/birds/people/A-34679/": all_alike(LOOK),
    # Without a text.
    "/projects/birds/people/A-34679/notes/": changing((NOT_ALLOWED, 409)),
    # Of somebody else.
    "/projects/birds/people/A-34679/notes/1/delete/": changing((NOT_ALLOWED, ELSEWHERE)),
    # Without a text.
    "/projects/birds/people/A-34679/message/": changing((FINE, 409)),
    # Without a reason.
    "/projects/birds/people/A-34679/block/": changing((FINE, 409)),
    # Of somebody who is not blocked.
    "/projects/birds/people/A-34679/allow/": changing((NOT_ALLOWED, ELSEWHERE)),
    "/projects/birds/people/A-34679/data.json": owners_alone(LOOK),
    "/projects/birds/people/find/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    "/projects/birds/results/": all_alike(LOOK),
    "/projects/birds/people-and-models/": all_alike(LOOK),
    "/projects/birds/results/cost.csv": all_alike(LOOK),
    f"/projects/birds/charts/{DIGEST}/": all_alike(LOOK),
    f"/projects/birds/charts/{DIGEST}.svg": all_alike(LOOK),
    "/projects/birds/releases/": all_alike(LOOK),
    "/projects/birds/releases/compare/": all_alike(LOOK),
    "/projects/birds/events/": all_alike(LOOK),
    "/projects/birds/dataset/": changing((NOT_ALLOWED, ELSEWHERE)),
    "/projects/birds/report/md/": all_alike(LOOK),
    "/studies/birds/birds-step-3/results/": all_alike(LOOK),
    "/studies/birds/birds-step-3/results/cost.csv": all_alike(LOOK),
    "/studies/birds/birds-step-3/recruit/": changing(LOOK),
    # No workspace is chosen, and nothing is on Prolific.
    "/studies/birds/birds-step-3/prolific/": changing((ELSEWHERE, ELSEWHERE)),
    "/studies/birds/birds-step-3/prolific/own-form/": changing((ELSEWHERE, NOT_ALLOWED)),
    "/studies/birds/birds-step-3/prolific/foresee/": changing((NOT_ALLOWED, FINE)),
    "/studies/birds/birds-step-3/prolific/publish/": {
        **changing((ELSEWHERE, ELSEWHERE)),
        "editor": (ELSEWHERE, 403),
    },
    # Without a number.
    "/studies/birds/birds-step-3/prolific/places/": owners_alone((NOT_ALLOWED, 409)),
    **{
        f"/studies/birds/birds-step-3/prolific/{action}/": changing((NOT_ALLOWED, ELSEWHERE))
        for action in ("pause", "resume", "stop", "refresh")
    },
    "/studies/birds/birds-step-3/questions/": all_alike(LOOK),
    "/studies/birds/birds-step-3/checks/": all_alike(LOOK),
    "/studies/birds/birds-step-3/annotators/": all_alike(LOOK),
    "/studies/birds/birds-step-3/owed/": all_alike(LOOK),
    "/studies/birds/birds-step-3/owed.csv": all_alike(LOOK),
    # Without a session.
    "/studies/birds/birds-step-3/review/": {**all_alike((FINE, 403)), "owner": (FINE, ELSEWHERE)},
    # Without anything to do.
    "/studies/birds/birds-step-3/review/1/": {**all_alike((FINE, 403)), "owner": (FINE, 409)},
    # Without a category.
    "/studies/birds/birds-step-3/review/1/reject/": owners_alone((FINE, 409)),
    # Without a rule.
    "/studies/birds/birds-step-3/bonuses/": owners_alone((FINE, 409)),
    "/projects/birds/money/": all_alike(LOOK),
    "/projects/birds/money/statement.csv": all_alike(LOOK),
    "/projects/birds/money/prolific/": owners_alone((FINE, ELSEWHERE)),
    "/projects/birds/money/prolific/rewards/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    # Without a submission.
    "/projects/birds/money/prolific/amount/": owners_alone((NOT_ALLOWED, NOT_FOUND)),
    # Without a study.
    "/projects/birds/money/refused/": owners_alone((NOT_ALLOWED, NOT_FOUND)),
    # Without anything to do.
    "/projects/birds/money/payments/1/": owners_alone((FINE, 409)),
    "/projects/birds/flags/": all_alike(LOOK),
    "/studies/birds/birds-step-3/flags/": all_alike(LOOK),
    # Without a flag.
    "/projects/birds/flags/1/": {**all_alike((FINE, 409)), "viewer": (FINE, 403)},
    "/projects/birds/flags/1/exclude/": changing((FINE, 409)),
    "/projects/birds/flags/1/undo/": changing((NOT_ALLOWED, 409)),
    "/studies/birds/birds-step-3/disagreements/": all_alike(LOOK),
    "/studies/birds/birds-step-3/disagreements/1/settle/": changing((NOT_ALLOWED, 409)),
    "/studies/birds/birds-step-3/disagreements/1/unsettle/": changing((NOT_ALLOWED, 409)),
    "/studies/birds/birds-step-3/": all_alike(LOOK),
    "/studies/birds/birds-step-3/progress/": all_alike(LOOK),
    "/studies/birds/birds-step-3/job/": all_alike(LOOK),
    "/studies/birds/birds-step-3/job/cancel/": changing((ELSEWHERE, ELSEWHERE)),
    # From before the project stood in it.
    "/studies/birds-step-3/": all_alike((ELSEWHERE, 307)),
    # Without a study file; without a name.
    "/studies/birds/draft/file/": changing((ELSEWHERE, 409)),
    # Without fields, of a study file that is none.
    "/studies/birds/draft/form/": changing((FINE, 409)),
    "/studies/birds/draft/design/": all_alike(LOOK),
    # Without an instance.
    "/studies/birds/draft/practice/": changing((FINE, 409)),
    "/projects/birds/new-study/form/?form_key=1": changing((FINE, 409)),
    "/projects/birds/new-study/foresee/": changing((NOT_ALLOWED, FINE)),
    "/projects/birds/new-study/pictures/best_of_n/": changing(LOOK),
    "/projects/birds/markdown/": changing((NOT_ALLOWED, FINE)),
    "/studies/birds/draft/duplicate/?form_key=1": changing((FINE, 409)),
    "/studies/birds/draft/delete/": changing((FINE, ELSEWHERE)),
    # A draft's page, which has other buttons.
    "/studies/birds/draft/": all_alike(LOOK),
    "/studies/birds/draft/launch/": changing((FINE, ELSEWHERE)),
    "/studies/birds/birds-step-3/pause/": changing((FINE, ELSEWHERE)),
    "/studies/birds/birds-step-3/resume/": changing((ELSEWHERE, ELSEWHERE)),
    "/studies/birds/birds-step-3/close/": changing((FINE, ELSEWHERE)),
    # Without saying what.
    "/studies/birds/birds-step-3/more/": changing((FINE, 409)),
    "/studies/birds/birds-step-3/completion/": changing((NOT_ALLOWED, ELSEWHERE)),
    # Without a consent page.
    "/studies/birds/birds-step-3/consent/": changing((FINE, 409)),
    # Without a name.
    "/studies/birds/birds-step-3/personal-links/": changing((FINE, 409)),
    "/studies/birds/birds-step-3/exports/": changing((FINE, ELSEWHERE), viewer=(FINE, 403)),
    "/studies/birds/birds-step-3/preview/": all_alike((FINE, 303)),
    "/studies/birds/birds-step-3/picture/": all_alike(LOOK),
    "/studies/birds/birds-step-3/preview/phone/": all_alike(LOOK),
    # Without a name.
    "/studies/birds/birds-step-3/releases/": changing((FINE, 409), viewer=(FINE, 403)),
    "/studies/birds/birds-step-3/sessions/1/free/": changing((FINE, ELSEWHERE)),
    "/studies/birds/birds-step-3/sessions/1/accept-times/": changing((NOT_ALLOWED, ELSEWHERE)),
    "/studies/birds/birds-step-3/sessions/1/free-network/": changing((NOT_ALLOWED, ELSEWHERE)),
    "/studies/birds/birds-step-3/networks/": changing((NOT_ALLOWED, ELSEWHERE)),
    # Without a reason.
    "/studies/birds/birds-step-3/questions/1/": changing((FINE, 409)),
    "/studies/birds/birds-step-3/returned/": changing((NOT_ALLOWED, ELSEWHERE)),
    # Without a study file.
    "/projects/birds/new-study/?form_key=1": changing((FINE, 409)),
    "/projects/birds/imports/": all_alike(LOOK),
    # Without a file.
    "/projects/birds/imports/new/": changing((FINE, 409)),
    "/projects/birds/uploads/": changing((NOT_ALLOWED, 201)),
    # One that failed: there is nothing to cancel, and it can be tried again.
    # Without a name; a GET leads to the form.
    "/projects/birds/hub-datasets/": changing((ELSEWHERE, 409)),
    "/imports/1/": all_alike(LOOK),
    "/imports/1/cancel/": changing((ELSEWHERE, ELSEWHERE)),
    "/imports/1/again/": changing((ELSEWHERE, ELSEWHERE)),
    "/imports/1/images/": changing((ELSEWHERE, ELSEWHERE)),
    "/imports/1/mapping/": changing((ELSEWHERE, ELSEWHERE)),
    "/imports/1/problems/": all_alike(LOOK),
    "/projects/birds/models/": all_alike(LOOK),
    # Without a model.
    "/projects/birds/models/ask/": changing((ELSEWHERE, 409)),
    "/models/1/rename/": changing((FINE, ELSEWHERE)),
    "/models/1/delete/": changing((FINE, ELSEWHERE)),
    # Without a name.
    "/projects/birds/training/": changing((FINE, 409), viewer=(FINE, 403)),
    # One that was cancelled: there is nothing to cancel, and one can go on with it.
    "/training/1/": all_alike(LOOK),
    "/training/1/card/": all_alike((ELSEWHERE, NOT_ALLOWED)),
    "/training/1/card/README.md": all_alike((ELSEWHERE, NOT_ALLOWED)),
    "/training/1/cancel/": changing((ELSEWHERE, ELSEWHERE)),
    "/training/1/resume/": changing((ELSEWHERE, ELSEWHERE)),
    "/training/1/hub/": changing((FINE, 409)),
    "/model-pushes/1/": changing(LOOK),
    "/model-pushes/1/cancel/": changing((NOT_ALLOWED, ELSEWHERE)),
    "/training/1/delete/": changing((FINE, ELSEWHERE)),
    "/projects/birds/near-duplicates/": all_alike(LOOK),
    # Without a file.
    "/projects/birds/pipelines/": changing((FINE, 409), viewer=(FINE, 403)),
    # One that ended long ago: there is nothing to cancel, and nothing to make.
    "/pipelines/1/": all_alike(LOOK),
    "/pipelines/1/delete/": changing((ELSEWHERE, ELSEWHERE)),
    "/pipelines/1/cancel/": changing((ELSEWHERE, ELSEWHERE)),
    "/pipelines/1/go-on/": changing((ELSEWHERE, ELSEWHERE)),
    # One that was cancelled: there is nothing to cancel, and one can go on with it.
    "/runs/1/": all_alike(LOOK),
    "/runs/1/cancel/": changing((ELSEWHERE, ELSEWHERE)),
    "/runs/1/go-on/": changing((ELSEWHERE, ELSEWHERE)),
    "/exports/1/": all_alike(LOOK),
    "/exports/1/cancel/": changing((ELSEWHERE, ELSEWHERE)),
    "/exports/1/download/": changing(LOOK),
    "/releases/1/provider-ids/": owners_alone(LOOK),
    # Without a repository; one that is over.
    "/releases/1/hub/": changing((FINE, 409)),
    "/hub-pushes/1/": changing(LOOK),
    "/hub-pushes/1/cancel/": changing((NOT_ALLOWED, ELSEWHERE)),
}
PUBLIC = {
    *("/sign-in/", "/healthz", "/readyz"),
    *("/invitations/x/", "/forgotten/", "/forgotten/sent/", "/forgotten/x/y/", "/account/mail/x/"),
    # A worker with models, with its key.
    "/worker/models/push",
    # What people of a panel see has its own tests.
    *("/panel/", "/panel/link/", "/panel/sign-in/x/", "/panel/sign-out/", "/panel/1/start/"),
    # Where no provider is configured there is nothing.
    *("/sign-in/elsewhere/", "/sign-in/elsewhere/back/"),
}
# Of an upload nobody is told but who makes it (`test_uploads`).
UPLOAD = "/uploads/00000000-0000-4000-8000-000000000000/"
OWN_ALONE = (
    *(
        "/",
        "/search/",
        "/help/",
        "/jobs/",
        "/password/",
        "/new-project/",
        "/new-project/slug/",
        "/tokens/",
        "/tokens/1/revoke/",
    ),
    *(UPLOAD, f"{UPLOAD}rows/", f"{UPLOAD}mapping/"),
    *("/hub-downloads/1/", "/hub-downloads/1/cancel/"),
    *("/account/", "/account/name/", "/account/mail/"),
    *("/demo/", "/demo/progress/", "/deleted-projects/1.json"),
    *("/account/elsewhere/connect/", "/account/elsewhere/disconnect/"),
    *("/account/browsers/1/sign-out/", "/account/browsers/sign-out/"),
)
OWN = {"/sign-out/", *OWN_ALONE}
# The role that a member has in the database, and the column of the table that tells what they get.
PEOPLE = {
    "viewer": "viewer",
    "editor": "editor",
    "owner": "owner",
    # As the version before wrote it.
    "researcher": "editor",
    "superuser": "owner",
}
# Files; and what annotators see, whose forms lead on in the preview.
NO_PAGES = {
    "/projects/birds/money/statement.csv",
    *("/projects/birds/results/cost.csv", "/studies/birds/birds-step-3/results/cost.csv"),
    f"/projects/birds/charts/{DIGEST}.svg",
    *("/projects/birds/report/md/", "/exports/1/download/", "/releases/1/provider-ids/", "/imports/1/problems/"),
    "/projects/birds/people/A-34679/data.json",
    *("/studies/birds/birds-step-3/preview/", "/studies/birds/birds-step-3/picture/"),
    "/projects/birds/new-study/pictures/best_of_n/",
}
# The forms that somebody meets in all the pages that they may see.
FORMS_OF_EDITORS = {
    *("new_study_form", "study_form", "study_completion", "study_consent"),
    *(
        "exclude_person",
        "flagged_session",
        "exclude_flagged",
        "add_person_note",
        "block_person",
        "message_person",
        "withdraw_person",
        "project_dataset",
        "import_again",
        "run_go_on",
        "ask_model",
        "model_rename",
        "model_delete",
        "project_pipelines",
        "pipeline_delete",
        "project_training",
        "training_resume",
        "training_delete",
    ),
    *("personal_links", "open_networks"),
    *("free_seat", "session_returned", "settle", "unsettle", "study_question"),
    *("study_launch", "study_pause", "study_close"),
    *("study_file", "study_duplicate", "study_delete", "new_study", "new_import", "new_hub_download"),
    *("study_exports", "study_releases"),
}
FORMS_OF_OWNERS = FORMS_OF_EDITORS | {
    *("find_person", "invite_member", "cancel_invitation", "change_role", "remove_member"),
    *("project_groups", "project_panel", "project_panel_remove"),
    *("rename_project", "archive_project"),
    *("prolific_account", "prolific_account_try", "prolific_account_remove"),
    *("study_review_session", "study_bonuses", "project_money_check", "project_payment", "reject_submission"),
    "send_refused_again",
    *("webhooks", "webhook_key", "webhook_try", "webhook_delete"),
}
FORMS = {"viewer": set[str](), "editor": FORMS_OF_EDITORS, "owner": FORMS_OF_OWNERS}
