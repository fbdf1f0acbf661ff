from django.contrib import admin
from django.urls import include, path

from config import outage
from workspace.views.account.sign_in import admin_sign_in

handler500 = outage.handler500

urlpatterns = [
    # Before the admin's URLs: there is one sign-in page, with one rate limit.
    path("admin/login/", admin_sign_in),
    path("admin/", admin.site.urls),
    path("api/", include("workspace.api.urls")),
    path("", include("annotation.urls")),
    path("", include("studies.urls")),
    path("", include("predictions.urls")),
    path("", include("training.urls")),
    path("", include("results.urls")),
    # Last: its pattern of old addresses matches what no current page does.
    path("", include("workspace.urls")),
]
