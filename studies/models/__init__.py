from studies.models.conditions import BlindScore
from studies.models.consents import ConsentVersion
from studies.models.events import Event
from studies.models.images import Image
from studies.models.imports import Import
from studies.models.instances import Instance, InstanceImage, Tag
from studies.models.projects import Invitation, Membership, Project, ProjectDeletion
from studies.models.questions import Check, PracticeQuestion, Question, Survey, SurveyQuestion
from studies.models.studies import UNDER_WAY, CompletionCode, Outcome, Purpose, Study, StudyState
from studies.models.uploads import Upload

__all__ = [
    "UNDER_WAY",
    "BlindScore",
    "Check",
    "CompletionCode",
    "ConsentVersion",
    "Event",
    "Image",
    "Import",
    "Instance",
    "InstanceImage",
    "Invitation",
    "Membership",
    "Outcome",
    "PracticeQuestion",
    "Project",
    "ProjectDeletion",
    "Purpose",
    "Question",
    "Study",
    "StudyState",
    "Survey",
    "SurveyQuestion",
    "Tag",
    "Upload",
]
