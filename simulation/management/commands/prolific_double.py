"""Run a local platform that behaves like Prolific."""

import argparse
from contextlib import closing
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.simulation_ids import SIMULATED_STUDY
from simulation.prolific_double.pages import set_switch
from simulation.prolific_double.rules import FIRST_BALANCE, Refusal
from simulation.prolific_double.server import Double
from simulation.prolific_double.switches import Switch

TOKEN = "local-prolific-token"  # noqa: S105


class Command(BaseCommand):
    help = "Run a local platform that behaves like Prolific: its API, participants to play, and failures on request."
    requires_system_checks = ()

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        times = ("can be on for a number of times", [one for one in Switch if not one.is_state])
        states = ("are on or off", [one for one in Switch if one.is_state])
        kwargs["epilog"] = "\n\n".join(
            f"switches that {what}:\n" + "\n".join(f"  {one.key:<22} {one.effect}" for one in switches)
            for what, switches in (times, states)
        )
        return super().create_parser(
            prog_name, subcommand, formatter_class=argparse.RawDescriptionHelpFormatter, **kwargs
        )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8400, help="port on 127.0.0.1 (default 8400)")
        parser.add_argument(
            "--folder",
            type=Path,
            default=settings.DATA_DIR / "prolific-double",
            help="where its data is kept (default prolific-double in the folder of this site's data)",
        )
        parser.add_argument("--token", default=TOKEN, help=f"the token that its API accepts (default {TOKEN})")
        parser.add_argument(
            "--balance",
            type=int,
            default=FIRST_BALANCE,
            metavar="CENTS",
            help=f"first balance (default {FIRST_BALANCE})",
        )
        parser.add_argument(
            "--slow-seconds", type=float, default=30, metavar="S", help="what `slow` waits (default 30)"
        )
        parser.add_argument(
            "--switch",
            action="append",
            default=[],
            metavar="NAME[=TIMES]",
            help="turn one of the switches below on, or on for the next TIMES; may be given several times",
        )
        parser.add_argument(
            "--simulated", action="store_true", help="let sites mark whoever comes from its studies as simulated"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            double = Double(
                options["folder"],
                **{name: options[name] for name in ("token", "port", "balance", "slow_seconds")},
                study_prefix=SIMULATED_STUDY if options["simulated"] else "",
            )
        except OverflowError as error:
            raise CommandError(f"--port is {options['port']}. Write a number from 0 to 65535.") from error
        except OSError as error:
            # Errors of sockets name no file.
            unusable = f"The folder {options['folder']}" if error.filename else f"The port {options['port']}"
            raise CommandError(f"{unusable} cannot be used: {error.strerror}.") from error
        with closing(double):
            for switch in options["switch"]:
                _turn_on(double, switch)
            if options["verbosity"]:
                self.stdout.write(
                    f"The local platform is at {double.address}/. Its API accepts the token {options['token']}."
                )
            try:
                double.run()
            except KeyboardInterrupt:
                if options["verbosity"]:
                    self.stdout.write("Stopped.")


def _turn_on(double: Double, text: str) -> None:
    """Turn a switch on that is written NAME or NAME=TIMES."""
    name, _, times = text.partition("=")
    try:
        set_switch(double.platform, name, times or "on")
    except Refusal as refusal:
        raise CommandError(str(refusal)) from refusal
