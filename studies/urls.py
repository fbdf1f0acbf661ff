from django.urls import path

from studies.views import images

urlpatterns = [path("images/<str:name>/<str:size>", images.image, name="image")]
