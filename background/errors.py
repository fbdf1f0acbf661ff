"""Ways in which a job ends early. Work raises these, or lets them through."""


class JobError(Exception):
    """Base class of these errors."""


class Failed(JobError):
    """The work failed. The message is for people: sentences that say what is wrong and what to do."""


class Cancelled(JobError):
    """Somebody cancelled the job."""


class Superseded(JobError):
    """Another worker took over the job, because this one was silent for too long."""


class UnknownWork(JobError):
    """No work of that name is registered; it may belong to another version of Lineup."""
