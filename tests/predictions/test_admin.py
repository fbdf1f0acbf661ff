import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.factories import make_model, make_prediction, make_project
from tests.predictions.result_files import add_instance

pytestmark = pytest.mark.django_db


def test_predictions_can_be_looked_at_only_and_by_operators_only(client: Client) -> None:
    project = make_project("birds")
    model = make_model(project)
    prediction = make_prediction(model, add_instance(project, 1), source_file="results.csv")
    pages = [f"model/{model.pk}", f"prediction/{prediction.pk}"]
    client.force_login(User.objects.create_user("stranger"))
    assert {client.get(f"/admin/predictions/{page}/change/").status_code for page in pages} == {302}
    client.force_login(User.objects.create_superuser("operator"))
    for page in ("model/", "prediction/", *(f"{page}/change/" for page in pages)):
        assert client.get(f"/admin/predictions/{page}").status_code == 200
    for page in pages:
        assert client.post(f"/admin/predictions/{page}/change/", {"name": "other"}).status_code == 403
        assert client.post(f"/admin/predictions/{page}/delete/", {"post": "yes"}).status_code == 403
