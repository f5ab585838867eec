"""Calls of a language model as uses of a model, beside the log that some collections keep."""

from dataclasses import dataclass

from sourcebook.answering.session import Call, CallLog
from sourcebook.database.usage_log import UsageLog
from sourcebook.model.usage import ANSWER, Use


@dataclass(frozen=True, slots=True)
class CountedCalls:
    """Adds each call to the usage, and to the log where there is one."""

    usage: UsageLog
    collection: str
    """Collection that the use counts for: the first one that was asked."""
    model: str
    log: CallLog | None

    def add(self, session: str, provider: str, call: Call) -> None:
        """Count a call, also one that failed."""
        used = Use(
            self.collection,
            provider,
            self.model,
            ANSWER,
            1,
            tokens=call.prompt_tokens,
            answer_tokens=call.answer_tokens,
            seconds=call.seconds,
        )
        self.usage.add(used)
        if self.log is not None:
            self.log.add(session, provider, call)
