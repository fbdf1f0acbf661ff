from django.urls import path

from annotation.views import entry, work

urlpatterns = [
    path("take/<slug:slug>/", entry.take, name="take"),
    path("s/<str:token>/", work.page, name="session"),
    path("s/<str:token>/consent/", work.consent, name="session_consent"),
    path("s/<str:token>/begin/", work.begin, name="session_begin"),
    path("s/<str:token>/practice/", work.practise, name="session_practice"),
    path("s/<str:token>/answer/", work.answer, name="session_answer"),
    path("s/<str:token>/change/", work.change, name="session_change"),
    path("s/<str:token>/give-up/", work.give_up, name="session_give_up"),
    path("s/<str:token>/comment/", work.comment, name="session_comment"),
]
