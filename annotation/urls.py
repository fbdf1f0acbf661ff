from django.urls import path

from annotation.views import entry, offline, work

urlpatterns = [
    path("take/<slug:name>/", entry.take, name="take"),
    # No token has a dot in it.
    path("s/worker.js", offline.worker, name="worker"),
    path("s/<slug:token>/app.webmanifest", offline.manifest, name="session_manifest"),
    path("s/<slug:token>/", work.page, name="session"),
    path("s/<slug:token>/consent/", work.consent, name="session_consent"),
    path("s/<slug:token>/begin/", work.begin, name="session_begin"),
    path("s/<slug:token>/practice/", work.practise, name="session_practice"),
    path("s/<slug:token>/answer/", work.answer, name="session_answer"),
    path("s/<slug:token>/skip/", work.skip, name="session_skip"),
    path("s/<slug:token>/change/", work.change, name="session_change"),
    path("s/<slug:token>/go-on/", work.go_on, name="session_go_on"),
    path("s/<slug:token>/give-up/", work.give_up, name="session_give_up"),
    path("s/<slug:token>/comment/", work.comment, name="session_comment"),
]
