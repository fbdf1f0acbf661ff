"""Precision and recall of flag rules on simulated sessions: careless people, and honest people who look odd.

python -m benchmarks.session_flags                  # prints the table
python -m benchmarks.session_flags --store          # also writes analytics/flags/measured.json and docs/quality.md

Each survey is answered by five people: one or two like the profile that is measured, the others typical, or in one case
of seven clicking at random.
"""

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from scipy.stats import beta

from analytics.flags import ALL_RULES, MEASURED, RULES, get_flag_rule
from analytics.session_comparison import SentRecord
from analytics.study_flags import find_flags
from simulation.session_profiles import CHEATERS, HONEST, KINDS, PROFILES, StudyKind, draw_survey, sit

DOCS, BEGIN, END = Path("docs/quality.md"), "<!-- measured -->", "<!-- /measured -->"
LENGTHS = (20, 100)
SEATS = 5
BACKGROUND = 1 / 7
# The share of careless sessions for which precision is computed.
CARELESS = 0.2
# Each honest type and any rule: at most this share of sessions is flagged.
MOST_FALSE_ALARMS = 0.05


def measure(cell: tuple[str, int, str, int, int]) -> list[frozenset[str]]:
    """Return the rules that flag each session of a profile, in surveys of one kind and length."""
    kind_name, length, profile, seed, surveys = cell
    kind = next(each for each in KINDS if each.name == kind_name)
    dice = random.Random(f"{kind_name} {length} {profile} {seed}")
    sent: list[SentRecord] = []
    captions: dict[int, Sequence[str]] = {}
    measured: set[int] = set()
    first = 1
    for number in range(surveys):
        survey = draw_survey(kind, size=length, first=first, dice=dice)
        first += 10_000
        captions |= dict(survey.captions)
        sessions: list[Sequence[SentRecord]] = []
        for seat in range(SEATS):
            is_measured = seat >= SEATS - 1 - number % 2
            other = "random clicks" if dice.random() < BACKGROUND else "typical"
            session = SEATS * number + seat
            who = PROFILES[profile if is_measured else other]
            sessions.append(sit(survey, who, session=session, dice=dice, earlier=sessions))
            if is_measured:
                measured.add(session)
        sent += [each for session_sent in sessions for each in session_sent]
    found = find_flags(sent, captions=captions)
    return [frozenset(rules) for session, rules in found.items() if session in measured]


def upper_limit(found: int, n: int) -> float:
    """Return the upper end of the exact 95 % interval of a share (Clopper & Pearson 1934)."""
    return 1.0 if found >= n else float(beta.ppf(0.975, found + 1, n - found))


def cells(kinds: Sequence[StudyKind], seeds: int, surveys: int) -> Iterator[tuple[str, int, str, int, int]]:
    for profile in PROFILES.values():
        for kind in kinds:
            for length in LENGTHS if kind.name in profile.kinds else ():
                for seed in range(seeds):
                    yield kind.name, length, profile.name, seed, surveys


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--surveys", type=int, default=10, help="per kind, length, profile and seed")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--store", action="store_true", help=f"write {MEASURED.name} beside the rules")
    given = parser.parse_args()
    begun = perf_counter()
    asked = list(cells(KINDS, given.seeds, given.surveys))
    if given.jobs > 1:
        with ProcessPoolExecutor(given.jobs) as pool:
            found = list(pool.map(measure, asked, chunksize=4))
    else:
        found = [measure(each) for each in asked]
    flagged: dict[str, Counter[str]] = defaultdict(Counter)
    by_kind: dict[tuple[str, str, int], list[int]] = defaultdict(lambda: [0, 0])
    n: Counter[str] = Counter()
    for (kind, length, profile, _, _), sessions in zip(asked, found, strict=True):
        n[profile] += len(sessions)
        for rules in sessions:
            flagged[profile].update(rules)
            flagged[profile][ALL_RULES] += bool(rules)
            by_kind[profile, kind, length][0] += bool(rules)
            by_kind[profile, kind, length][1] += 1
    print_tables(n, flagged, by_kind)
    print(f"{sum(n.values())} sessions in {perf_counter() - begun:.0f} s")
    if given.store:
        measured = measured_of(n, flagged)
        MEASURED.write_text(json.dumps(measured, indent=2) + "\n")
        before, _, rest = DOCS.read_text().partition(BEGIN)
        DOCS.write_text(f"{before}{BEGIN}\n{docs_table(measured)}{END}{rest.partition(END)[2]}")


def docs_table(measured: Mapping[str, Any]) -> str:
    """Return the tables of docs/quality.md, in Markdown."""
    lines = ["| Rule | Precision | Recall | False alarms | Finds best |", "| --- | --- | --- | --- | --- |"]
    for name, row in measured["rules"].items():
        title = "**All rules together**" if name == ALL_RULES else get_flag_rule(name).title
        precision = f"{100 * (row['precision'] or 0):.0f} % (at least {100 * row['precision_at_least']:.0f} %)"
        precision = "—" if row["precision"] is None else precision
        best = f"{row['best_type']} ({100 * row['best_recall']:.0f} %)" if row["recall"] else "—"
        alarms = f"{100 * row['false_alarms']:.2f} % (at most {100 * row['false_alarms_at_most']:.2f} %)"
        lines.append(f"| {title} | {precision} | {100 * row['recall']:.0f} % | {alarms} | {best} |")
    lines += ["", "| Type | Sessions | Flagged by any rule | 95 % CI up to |", "| --- | --- | --- | --- |"]
    for each in (*HONEST, *CHEATERS):
        row = measured["profiles"][each.name]
        what = "honest" if each.is_honest else "careless"
        flagged, most = 100 * row["flagged"], 100 * row["at_most"]
        lines.append(f"| {each.name} ({what}) | {row['n']} | {flagged:.1f} % | {most:.1f} % |")
    return "\n".join(lines) + "\n"


def print_tables(
    n: Counter[str], flagged: dict[str, Counter[str]], by_kind: dict[tuple[str, str, int], list[int]]
) -> None:
    columns = [(kind.name, length) for kind in KINDS for length in LENGTHS]
    for title, profiles in (("Honest: flagged by any rule", HONEST), ("Careless: found by any rule", CHEATERS)):
        heads = "".join(f"{kind[:8]:>9}{length:>4}" for kind, length in columns)
        print(f"\n{title}\n{'':24}{'n':>6}{'%':>7}{'upper':>7}{heads}   rules")
        for profile in (each.name for each in profiles):
            total, hits = n[profile], flagged[profile][ALL_RULES]
            shares = "".join(
                f"{100 * by_kind[profile, *each][0] / by_kind[profile, *each][1]:13.0f}"
                if by_kind[profile, *each][1]
                else 13 * " "
                for each in columns
            )
            rules = ", ".join(f"{name} {times}" for name, times in flagged[profile].most_common() if name != ALL_RULES)
            upper = upper_limit(hits, total)
            print(f"{profile:24}{total:6}{100 * hits / total:7.1f}{100 * upper:7.1f}{shares}   {rules}")
    worst = max(HONEST, key=lambda each: flagged[each.name][ALL_RULES] / n[each.name])
    share = flagged[worst.name][ALL_RULES] / n[worst.name]
    print(f"\nMost false alarms: {worst.name}, {100 * share:.1f} % (at most {100 * MOST_FALSE_ALARMS:.0f} % wanted)")
    print(f"\n{'rule':24}{'precision':>10}{'recall':>8}{'false alarms':>14}")
    for name, row in measured_of(n, flagged)["rules"].items():
        precision = "" if row["precision"] is None else f"{100 * row['precision']:.1f}"
        print(f"{name:24}{precision:>10}{100 * row['recall']:8.1f}{100 * row['false_alarms']:14.2f}")


def measured_of(n: Counter[str], flagged: dict[str, Counter[str]]) -> dict[str, Any]:
    """Return what pages show beside each rule, and beside all of them together."""
    honest, careless = (sum(n[each.name] for each in profiles) for profiles in (HONEST, CHEATERS))
    rows = {}
    for name in (*RULES, ALL_RULES):
        alarms = sum(flagged[each.name][name] for each in HONEST)
        hits = sum(flagged[each.name][name] for each in CHEATERS)
        true, false = CARELESS * hits / careless, (1 - CARELESS) * alarms / honest
        best = max(CHEATERS, key=lambda each: flagged[each.name][name] / n[each.name])
        rows[name] = {
            "version": get_flag_rule(name).version if name in RULES else None,
            "precision": round(true / (true + false), 4) if true + false else None,
            "precision_at_least": round(true / (true + (1 - CARELESS) * upper_limit(alarms, honest)), 4),
            "recall": round(hits / careless, 4),
            "best_type": best.name,
            "best_recall": round(flagged[best.name][name] / n[best.name], 4),
            "false_alarms": round(alarms / honest, 4),
            "false_alarms_at_most": round(upper_limit(alarms, honest), 4),
        }
    by_profile = {
        each.name: {
            "n": n[each.name],
            "flagged": round(flagged[each.name][ALL_RULES] / n[each.name], 4),
            "at_most": round(upper_limit(flagged[each.name][ALL_RULES], n[each.name]), 4),
        }
        for each in (*HONEST, *CHEATERS)
    }
    return {
        "measured_on": datetime.now(UTC).date().isoformat(),
        "careless_share": CARELESS,
        "honest_sessions": honest,
        "careless_sessions": careless,
        "rules": rows,
        "profiles": by_profile,
    }


if __name__ == "__main__":
    main()
