"""A stand-in for a server that speaks OpenAI's chat completions; what it answers, a test says."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from ssl import SSLContext
from typing import Any

from tests.receivers import Answer, Request, answer_with, receiving

NAME = "tiny"
TOKENS = (11, 7)


@dataclass
class ChatModel:
    """`asked`: the contents of all requests. `keys`: what each sent as Authorization, None for nothing."""

    address: str
    asked: list[Mapping[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)

    @property
    def prompts(self) -> list[str]:
        return [asked["messages"][0]["content"] for asked in self.asked]


# What is asked, and which request it is, from 1 -> how it is answered.
Replies = Callable[[Mapping[str, Any], int], Answer]


def says(text: str | None, finish: str = "stop", **message: Any) -> Answer:
    """Answer with a chat completion."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text} | message}
    usage = {"prompt_tokens": TOKENS[0], "completion_tokens": TOKENS[1], "total_tokens": sum(TOKENS)}
    return answer_with(200, json.dumps({"choices": [choice], "usage": usage}).encode())


def says_caption(caption: str) -> Answer:
    return says(json.dumps({"change": "dog -> cat" if caption else "", "caption": caption}))


def fails(status: int, message: str = "", **headers: str) -> Answer:
    return answer_with(status, json.dumps({"error": {"message": message}}).encode(), **headers)


@contextmanager
def chat_model(replies: Replies, tls: SSLContext | None = None) -> Iterator[ChatModel]:
    """Run the server for the length of the block; with `tls` it is called model.test."""

    def answer(handler: BaseHTTPRequestHandler, request: Request) -> None:
        assert (request.method, request.path) == ("POST", "/v1/chat/completions")
        model.keys.append(request.headers.get("authorization"))
        model.asked.append(json.loads(request.body))
        replies(model.asked[-1], len(model.asked))(handler, request)

    with receiving(answer, tls) as receiver:
        origin = f"https://model.test:{receiver.port}" if tls else f"http://127.0.0.1:{receiver.port}"
        model = ChatModel(f"{origin}/v1")
        yield model


def caption_of(asked: Mapping[str, Any]) -> str:
    """Return the caption that a request is about: the last one in its prompt."""
    prompt: str = asked["messages"][0]["content"]
    return prompt.rpartition("Caption: ")[2].partition("\n")[0]
