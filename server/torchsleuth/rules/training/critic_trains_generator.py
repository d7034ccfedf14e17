"""critic-trains-generator: gradients of the critic's loss that go into the step of the generator.

What it finds
    A critic's loss of generated samples that are not detached, so that its backward() gives gradients to the generator, too,
    and no zero_grad() between it and the backward() of the generator's own loss.
Why it hurts
    The critic wants the samples to be told from real ones, the generator wants the opposite. Its step follows the sum of both:
    they cancel, and with several steps of the critic to one of the generator, it learns to make worse samples. Nothing is raised.
Example
    fake = generator(noise)
    (critic(fake).mean() - critic(real).mean()).backward()
    critic_optimizer.step()
    (-critic(generator(noise)).mean()).backward()
    generator_optimizer.step()
Use instead
    fake = generator(noise)
    (critic(fake.detach()).mean() - critic(real).mean()).backward()
    critic_optimizer.step()
    (-critic(generator(noise)).mean()).backward()
    generator_optimizer.step()
Fix safety
    Safe: the critic learns the same from samples without a graph.
References
    "DCGAN Tutorial" in the PyTorch tutorials
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.optim import trained_parts
from torchsleuth.interp.trace import Event
from torchsleuth.messages import message
from torchsleuth.rules.evidence.gradients import changes_gradients, feeds, may_clear
from torchsleuth.rules.evidence.loops import (
    called_text,
    optimizer_text,
    recurs,
    trained_by,
    unseen,
)
from torchsleuth.rules.evidence.operands import appended, short
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.values import LibraryObject

CODE = "TS581"


def find(analysis: Analysis) -> Iterator[Finding]:
    found = [one for step in analysis.events("step") if (one := _mixed(analysis, step)) is not None]
    seen: set[Span] = set()
    if not found or unseen(analysis, "zero_grad") or changes_gradients(analysis):
        return
    for judged, own, step in found:
        # A judgement that both losses are made of is what TS403 speaks of: the critic's step changes weights it needs.
        finding = _told(analysis, judged, own, step) if judged.forward_id not in own.history else None
        if finding is not None and finding.at not in seen:
            seen.add(finding.at)
            yield finding


def _told(analysis: Analysis, judged: Event, own: Event, step: Event) -> Finding | None:
    """Samples that are to be detached for the critic."""
    site = judged.site
    given = site.call.args[0] if site.call is not None and site.call.args else None
    if given is None or isinstance(given, ast.Starred):
        return None
    text = message(
        "critic.trains",
        samples=short(site.source.segment(given)),
        critic=called_text(judged) or "the critic",
        optimizer=optimizer_text(analysis, step) or "the generator's optimizer",
    )
    places = (
        own.site.span.related(message("critic.trains.own")),
        step.site.span.related(message("critic.trains.step")),
    )
    return Finding(site.source.span(given), text, places, (appended(site, given, ".detach()"),))


def _mixed(analysis: Analysis, step: Event) -> tuple[Event, Event, Event] | None:
    """Where a critic is given samples in a loss that is not the generator's, the generator's own backward(), and its step, which
    takes the gradients of both."""
    generator = step.subject
    if not isinstance(generator, LibraryObject) or generator.identity in analysis.trace.escaped:
        return None
    if not recurs(analysis, step):
        return None
    own: Event | None = None
    critics: list[LibraryObject] = []
    for event in reversed(analysis.trace.events[: step.index]):
        if (event.kind == "step" and event.subject is generator) or may_clear(event, generator):
            return None
        if event.kind == "step" and own is not None and isinstance(event.subject, LibraryObject):
            critics.append(event.subject)
        if event.kind != "backward" or feeds(event, generator) is False:
            continue
        if feeds(event, generator) is None or not event.certain:
            return None
        if own is None:
            own = event
        for critic in critics:
            judged = _judged(analysis, event, generator, critic) if feeds(own, critic) else None
            if judged is not None:
                return judged, own, step
    return None


def _judged(analysis: Analysis, backward: Event, generator: LibraryObject, critic: LibraryObject) -> Event | None:
    """The call of a critic with what a generator made, in a loss for which it is asked about other samples, too."""
    if not feeds(backward, critic) or _share(generator, critic):
        return None
    made = {id(part) for part in trained_parts(generator)}
    calls = [
        event
        for event in analysis.events("forward")
        if event.forward_id in backward.history
        and trained_by(critic, event.subject)
        and not trained_by(generator, event.subject)
        and event.node is not None
    ]
    generated = [event for event in calls if event.node is not None and made & event.node.reached[0]]
    return generated[-1] if generated and len(generated) < len(calls) else None


def _share(one: LibraryObject, other: LibraryObject) -> bool:
    """Whether two optimizers were given a part in common."""
    return bool({id(part) for part in trained_parts(one)} & {id(part) for part in trained_parts(other)})


RULE = Rule(FAULTS[CODE], find, of_absence=True)
