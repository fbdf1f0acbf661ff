"""Tables and plots of papers: rows of a project in, plain tables out, written as Markdown, JSON, LaTeX and HTML.

`facts` is the input, `base` the output, `build.report_of` leads from one to the other. Nothing here reads a database or
a file, and every number comes from `analytics`.
"""
