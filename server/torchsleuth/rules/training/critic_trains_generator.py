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
from torchsleuth.interp.library.optim import given_to
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
from torchsleuth.values import LibraryObject, is_unknown

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
        if not event.certain:
            return None
        if own is None:
            own = event
            continue
        for critic in critics:
            judged = _judged(analysis, event, own, generator, critic)
            if judged is not None:
                return judged, own, step
    return None


def _judged(
    analysis: Analysis, backward: Event, own: Event, generator: LibraryObject, critic: LibraryObject
) -> Event | None:
    """The call of a critic with what a generator made, in a loss for which it is asked about other samples, too, while the generator's
    own loss asks about these alone. Optimizers of parameters that are not known are told by the order of their steps."""
    first, second = _calls_in(analysis, backward), _calls_in(analysis, own)
    for judged in reversed(first):
        maker = next((one for one in first if one.subject is not judged.subject and _comes_from(judged, one)), None)
        if maker is None:
            continue
        made = [one for one in (*first, *second) if one.subject is maker.subject]
        asked = [[one for one in calls if one.subject is judged.subject] for calls in (first, second)]
        others = [one for one in asked[0] if not any(_comes_from(one, other) for other in made)]
        alone = bool(asked[1]) and all(any(_comes_from(one, other) for other in made) for one in asked[1])
        if others and alone and _trains(critic, judged, maker) and _trains(generator, maker, judged):
            return judged
    return None


def _calls_in(analysis: Analysis, backward: Event) -> list[Event]:
    """The calls of modules that a loss is computed by."""
    return [
        event for event in analysis.events("forward") if event.forward_id in backward.history and event.node is not None
    ]


def _comes_from(judged: Event, made: Event) -> bool:
    """Whether a module was called with what another call gave, with its graph."""
    return made.node is not None and judged.node is not None and made.node in judged.node.members


def _trains(optimizer: LibraryObject, own: Event, other: Event) -> bool:
    """Whether an optimizer trains one module and not the other, or may do so as nothing is known of what it trains."""
    if all(map(is_unknown, given_to(optimizer))):
        return True
    return trained_by(optimizer, own.subject) and not trained_by(optimizer, other.subject)


RULE = Rule(FAULTS[CODE], find, of_absence=True)
