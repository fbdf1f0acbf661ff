from django.urls import path

from annotation.views import (
    answer_notices,
    answer_review,
    drafts,
    entry,
    help,
    introduction,
    lobby,
    offline,
    practice,
    prolific_webhook,
    session_end,
    work,
)

urlpatterns = [
    # First, since most requests are answers.
    path("s/<slug:token>/answer/", work.answer, name="session_answer"),
    path("take/<slug:name>/", entry.take, name="take"),
    path("hooks/prolific/<slug:token>/", prolific_webhook.receive_webhook, name="prolific_webhook"),
    # Tokens contain no dot, so this cannot match one.
    path("s/worker.js", offline.worker, name="worker"),
    path("s/<slug:token>/app.webmanifest", offline.manifest, name="session_manifest"),
    path("s/<slug:token>/", work.page, name="session"),
    path("s/<slug:token>/here/", introduction.here, name="session_here"),
    path("s/<slug:token>/consent/", introduction.consent, name="session_consent"),
    path("s/<slug:token>/begin/", introduction.begin, name="session_begin"),
    path("s/<slug:token>/wait/", lobby.wait, name="session_wait"),
    path("s/<slug:token>/other-role/", lobby.take_other_role, name="session_other_role"),
    path("s/<slug:token>/practice/", practice.practise, name="session_practice"),
    path("s/<slug:token>/draft/", drafts.keep_draft, name="session_draft"),
    path("s/<slug:token>/skip/", work.skip, name="session_skip"),
    path("s/<slug:token>/change/", answer_review.change, name="session_change"),
    path("s/<slug:token>/change/<int:slot>/", answer_review.change, name="session_change_one"),
    path("s/<slug:token>/finish/", answer_review.finish, name="session_finish"),
    path("s/<slug:token>/seen/", answer_notices.see, name="session_seen"),
    path("s/<slug:token>/go-on/", session_end.go_on, name="session_go_on"),
    path("s/<slug:token>/give-up/", session_end.give_up, name="session_give_up"),
    path("s/<slug:token>/comment/", session_end.comment, name="session_comment"),
    path("s/<slug:token>/take-back/", session_end.take_back, name="session_take_back"),
    path("s/<slug:token>/help/", help.show_help, name="session_help"),
    path("s/<slug:token>/report/", help.report, name="session_report"),
    path("s/<slug:token>/more-time/", help.more_time, name="session_more_time"),
]
