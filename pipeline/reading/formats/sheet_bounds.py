"""How large a sheet may be, and how empty: what goes beyond is refused, or its far cells are moved, before it is laid out."""

#: Positions within a sheet that are laid out, filled or not.
LARGEST_AREA = 64_000_000
#: Up to here a sheet may be as empty as it likes: seven columns of which one ends in its last row; all sheets together.
SPARSE_AREA, SPARSE_SHEETS = 8_000_000, 20_000_000
SMALL_AREA = 1_000_000  # where cells are moved, so that there is no need to be that large
#: Beyond that, of so many positions one at least is filled.
SPARSE = 20
