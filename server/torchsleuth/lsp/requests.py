"""Requests: those that cannot be understood get an error for an answer, those that are withdrawn end, and none is kept."""

from __future__ import annotations

import logging
from typing import Any

from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams, JsonRpcInvalidRequest
from pygls.protocol import LanguageServerProtocol

from torchsleuth.messages import message
from torchsleuth.sifting import as_kind

logger = logging.getLogger(__name__)


class _Answered:
    """In the place of a message that has been dealt with."""


class AnsweringProtocol(LanguageServerProtocol):
    """pygls, which says nothing to requests whose parameters it cannot read, goes on with commands that are withdrawn, and
    keeps whatever it has done for each notification."""

    def _execute_handler(self, msg_id: Any, *args: Any, **kwargs: Any) -> None:
        super()._execute_handler(msg_id, *args, **kwargs)
        future = self._request_futures.get(msg_id)
        if future is None:
            return
        future.add_done_callback(lambda _: self._request_futures.pop(msg_id, None))
        request = self._request_futures.get(self.msg_id) if self.msg_id is not None else None
        if request is not None and request is not future:
            # A command runs as a request inside of the one that executes it.
            request.add_done_callback(lambda done: done.cancelled() and future.cancel())

    def structure_message(self, data: Any) -> Any:
        if not _is_message(data):
            return data
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            self._refuse(data, error)
        return _Answered()

    def handle_message(self, message: Any) -> None:
        if isinstance(message, _Answered):
            return
        if isinstance(message, dict | list | str | int | float | bool | None):
            self._refuse(message, JsonRpcInvalidRequest())
            return
        super().handle_message(message)

    def _refuse(self, data: Any, error: JsonRpcException) -> None:
        """Answer a request; a notification has no answer."""
        number = as_kind(data.get("id"), int, str) if isinstance(data, dict) else None
        if number is not None and "method" in data:
            self._send_response(number, error=error.to_response_error())
        else:
            logger.warning("a message that cannot be read: %s", error)


def wrong(what: str) -> JsonRpcException:
    """The answer to a command with other arguments than it takes. `what` it takes."""
    return JsonRpcInvalidParams(message("editor.wrong_arguments", wanted=what))


def _is_message(data: Any) -> bool:
    return isinstance(data, dict) and "jsonrpc" in data
