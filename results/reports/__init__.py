"""The papers' tables and plots: rows of a project in, plain tables out, written as Markdown, JSON, LaTeX and HTML.

`facts` is what goes in, `base` what comes out, `build.report_of` the way between. Nothing in here reads a database or
a file, and every number comes from `analytics`.
"""
