from django.urls import path

from predictions.views import pictures

urlpatterns = [path("worker/images/<str:sha256>", pictures.picture, name="worker_picture")]
