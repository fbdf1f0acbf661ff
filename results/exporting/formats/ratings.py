"""`ratings`: mean, spread and distribution of ratings on a scale, by kind, image role and category of instances."""

from collections.abc import Iterable
from dataclasses import astuple
from typing import Any, Literal

from results.exporting.base import Column, CsvWriter
from results.exporting.rows import RatingSummary


class Ratings(CsvWriter):
    title = "Ratings: mean, spread and distribution, CSV"
    rows: Literal["ratings"] = "ratings"
    filename = "ratings.csv"
    columns = (
        Column("study", "sc:Text", "The study that asked for ratings."),
        Column("kind", "sc:Text", "The kind of question."),
        Column("role", "sc:Text", "The image role that was rated."),
        Column("asked", "sc:Text", "The part of the question, if it asks several things at once; else empty."),
        Column("type", "sc:Text", "The type of the instances; all for every type."),
        Column("subtype", "sc:Text", "The subtype of the instances; all for every subtype."),
        Column("answers", "sc:Integer", "The number of counted answers."),
        Column("people", "sc:Integer", "The number of annotators who gave them."),
        Column("instances", "sc:Integer", "The number of instances that they are about."),
        Column("mean", "sc:Float", "The mean, in steps of the scale from 1 or in its numbers."),
        Column("low", "sc:Float", "The lower limit of its 95 % interval by person and instance; empty if undefined."),
        Column("high", "sc:Float", "The upper limit of that interval; empty if undefined."),
        Column("reason", "sc:Text", "Why there is no interval; empty if there is one."),
        Column("sd", "sc:Float", "The sample standard deviation of the answers; empty for one answer."),
        Column("steps", "sc:Text", "Step -> number of answers, as a JSON object."),
    )

    def values(self, row: RatingSummary) -> Iterable[Any]:
        return astuple(row)
