"""Virtual time: order of events, cancelling, frequency changes, snapshots."""

from cryplab.clock import NEVER, Clock


def test_events_run_in_order_of_cycle_then_of_scheduling() -> None:
    clock, seen = Clock(), []
    clock.at(20, lambda: seen.append("c"))
    clock.at(10, lambda: seen.append("a"))
    clock.at(10, lambda: seen.append("b"))
    clock.advance(30)
    assert seen == ["a", "b", "c"]
    assert clock.now == 30


def test_an_event_sees_its_own_cycle_and_may_schedule() -> None:
    clock, seen = Clock(), []

    def tick() -> None:
        seen.append(clock.now)
        if len(seen) < 3:
            clock.after(10, tick)

    clock.after(10, tick)
    clock.advance(100)
    assert seen == [10, 20, 30]


def test_cancelled_events_do_not_run_and_free_the_deadline() -> None:
    clock, seen = Clock(), []
    event = clock.at(10, lambda: seen.append(1))
    clock.cancel(event)
    clock.cancel(None)
    assert not event.pending
    assert clock.next_cycle == NEVER
    clock.advance(20)
    assert seen == []


def test_the_deadline_follows_the_earliest_event() -> None:
    clock = Clock()
    clock.at(50, lambda: None)
    assert clock.source.deadline == 50
    clock.at(30, lambda: None)
    assert clock.source.deadline == 30
    clock.advance(30)
    assert clock.source.deadline == 50


def test_seconds_follow_the_core_clock() -> None:
    clock = Clock(hz=16_000_000)
    told = []
    clock.on_frequency(lambda: told.append(clock.hz))
    clock.advance(16_000)
    clock.set_hz(168_000_000)
    clock.advance(168_000)
    assert abs(clock.seconds() - 0.002) < 1e-12
    assert told == [168_000_000]
    assert clock.cycles_for(0.001) == 168_000


def test_a_snapshot_brings_back_time_and_pending_events() -> None:
    clock, seen = Clock(), []
    event = clock.at(10, lambda: seen.append(clock.now))
    state = clock.save()
    clock.advance(20)
    clock.load(state)
    assert clock.now == 0
    assert event.pending
    clock.advance(20)
    assert seen == [10, 10]
