"""Standard input for the console: files, pipes and terminals."""

from __future__ import annotations

import os
import pty
import tempfile

from cryplab.keyboard import Keyboard


class Guest:
    def __init__(self) -> None:
        self.got = b""

    def type_in(self, data: bytes) -> None:
        self.got += data


def test_a_file_is_read_whole_before_the_start() -> None:
    guest = Guest()
    with tempfile.TemporaryFile() as file:
        file.write(b"x" * 200_000)
        file.seek(0)
        keyboard = Keyboard(file.fileno())
        keyboard.start(guest)
    assert (len(guest.got), keyboard.is_open) == (200_000, False)


def test_a_pipe_gives_what_is_there_and_later_the_rest() -> None:
    reader, writer = os.pipe()
    guest, keyboard = Guest(), Keyboard(reader)
    os.write(writer, b"first")
    keyboard.start(guest)
    assert (guest.got, keyboard.is_open) == (b"first", True)
    keyboard.poll(guest)
    os.write(writer, b", second")
    keyboard.poll(guest)
    assert guest.got == b"first, second"
    assert not keyboard.wait(guest)  # nobody waits for a pipe
    os.close(writer)
    keyboard.poll(guest)
    assert not keyboard.is_open
    os.close(reader)


def test_a_person_is_waited_for() -> None:
    ours, theirs = pty.openpty()
    guest, keyboard = Guest(), Keyboard(theirs)
    keyboard.start(guest)  # does not wait
    os.write(ours, b"hello\n")
    assert keyboard.wait(guest)
    assert guest.got == b"hello\n"
    os.write(ours, b"\x04")  # Ctrl-D
    assert not keyboard.wait(guest)
    assert not keyboard.is_open
    os.close(ours)
    os.close(theirs)


def test_no_input_at_all() -> None:
    keyboard = Keyboard(-1)
    keyboard.start(Guest())
    keyboard.poll(Guest())
    assert not keyboard.wait(Guest())
