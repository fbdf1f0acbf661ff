from studies.models.images import Image
from studies.models.instances import Instance, InstanceImage
from studies.models.projects import Membership, Project
from studies.models.questions import PracticeQuestion, Question, Survey, SurveyQuestion
from studies.models.studies import CompletionCode, Outcome, Study, StudyState

__all__ = [
    "CompletionCode",
    "Image",
    "Instance",
    "InstanceImage",
    "Membership",
    "Outcome",
    "PracticeQuestion",
    "Project",
    "Question",
    "Study",
    "StudyState",
    "Survey",
    "SurveyQuestion",
]
