from django.db import transaction
from django.http import HttpRequest, JsonResponse
from django.urls import path

from benchmarks.floor.models import Answer, Question, Slot


def answer_and_next(request: HttpRequest) -> JsonResponse:
    """Claim one slot, insert one answer, read one question."""
    with transaction.atomic():
        slot = Slot.objects.select_for_update(skip_locked=True).filter(answered=False).order_by("id")[0]
        Slot.objects.filter(pk=slot.pk).update(answered=True)
        Answer.objects.create(slot=slot, choice=request.POST["choice"])
    question = Question.objects.get(pk=slot.question_id)
    response = JsonResponse(question.content)
    # Without a length the server would close the connection after every answer.
    response["Content-Length"] = str(len(response.content))
    return response


urlpatterns = [path("answer/", answer_and_next)]
