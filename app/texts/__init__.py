"""What the pages say: one module a page, and what all pages share in ``frame``.

A sentence that never changes is a constant, one with something put in is a function of plain
values. Titles, axes and descriptions of a picture stand where the picture is drawn.
"""
