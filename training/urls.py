from django.urls import path

from training.views import examples

urlpatterns = [
    path("worker/training/examples/<str:part>", examples.examples, name="training_examples"),
    path("worker/training/state", examples.state, name="training_state"),
]
