from django.contrib import admin
from django.urls import include, path

from config import outage
from workspace.views.account.sign_in import admin_door

handler500 = outage.handler500

urlpatterns = [
    # Before the admin's own: there is one page for signing in, with one limit.
    path("admin/login/", admin_door),
    path("admin/", admin.site.urls),
    path("api/", include("workspace.api.urls")),
    path("", include("annotation.urls")),
    path("", include("studies.urls")),
    path("", include("predictions.urls")),
    path("", include("results.urls")),
    # Last: its pattern of old addresses takes what is no page of today.
    path("", include("workspace.urls")),
]
