import json

from django.db import connection, transaction
from django.http import HttpRequest, JsonResponse
from django.urls import path

from benchmarks.floor.models import Answer, Question, Slot

CLAIM = """
SELECT id, question_id FROM floor_slot WHERE NOT answered ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
"""
TAKE = "UPDATE floor_slot SET answered = true WHERE id = %s"
STORE = "INSERT INTO floor_answer (slot_id, choice) VALUES (%s, %s)"
NEXT = "SELECT content FROM floor_question WHERE id = %s"


def answer_and_next_in_sql(request: HttpRequest) -> JsonResponse:
    """Do the same as `answer_and_next` without the ORM: the floor of the goal."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(CLAIM)
        slot, question = cursor.fetchone()
        cursor.execute(TAKE, [slot])
        cursor.execute(STORE, [slot, request.POST["choice"]])
    with connection.cursor() as cursor:
        cursor.execute(NEXT, [question])
        (content,) = cursor.fetchone()
    return _whole(json.loads(content))


def _whole(content: dict[str, object]) -> JsonResponse:
    response = JsonResponse(content)
    # Without a length the server would close the connection after every response.
    response["Content-Length"] = str(len(response.content))
    return response


def answer_and_next(request: HttpRequest) -> JsonResponse:
    """Claim one slot, insert one answer, read one question."""
    with transaction.atomic():
        slot = Slot.objects.select_for_update(skip_locked=True).filter(answered=False).order_by("id")[0]
        Slot.objects.filter(pk=slot.pk).update(answered=True)
        Answer.objects.create(slot=slot, choice=request.POST["choice"])
    question = Question.objects.get(pk=slot.question_id)
    return _whole(question.content)


urlpatterns = [path("answer/", answer_and_next), path("plain/", answer_and_next_in_sql)]
