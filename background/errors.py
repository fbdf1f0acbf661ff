"""How a job can end otherwise than by being done. Work raises these, or lets them through."""


class JobError(Exception):
    """Any of the below."""


class Failed(JobError):
    """The work cannot be done. The message is for people: whole sentences that say what is wrong and what to do."""


class Cancelled(JobError):
    """Somebody asked for the job to be given up."""


class Superseded(JobError):
    """Another worker has the job by now: this one was silent for so long that it was taken for lost."""


class UnknownWork(JobError):
    """No work of that name is registered; it may be of another version of Lineup."""
