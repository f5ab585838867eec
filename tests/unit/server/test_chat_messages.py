"""Conversations of chats as questions to a language model."""

from sourcebook.contract.asking import LONGEST_TURN, MOST_TURNS, AskRequest
from sourcebook.server.adapters.chat_messages import ChatWanted


def test_the_last_turns_of_a_long_chat_are_its_history() -> None:
    """As many as a question may bring, each cut to what it may have; no chat becomes too long to be answered."""
    messages = [{"role": "system", "content": "Be brief."}]
    for number in range(MOST_TURNS + 3):
        messages += [{"role": "user", "content": f"Question {number}"}, {"role": "user", "content": f"Or {number}"}]
        messages += [{"role": "tool", "content": "found"}, {"role": "assistant", "content": "a" * (LONGEST_TURN + 1)}]
    question, options = ChatWanted.model_validate(
        {"model": "sourcebook", "messages": [*messages, {"role": "user", "content": "And now?"}]}
    ).asked()
    assert (question, options["instructions"]) == ("And now?", "Be brief.")
    request = AskRequest.of(question=question, collections=None, **options)
    assert [each.question for each in request.history] == [f"Or {number}" for number in range(3, MOST_TURNS + 3)]
    assert {len(each.answer) for each in request.history} == {LONGEST_TURN}
