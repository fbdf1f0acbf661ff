from django.urls import path

from studies.views import images

urlpatterns = [path("images/<str:sha256>/<str:size>", images.image, name="image")]
