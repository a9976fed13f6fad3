"""Files in, one Table out.

`input_files` names the files, `process` has each opened by `child` in a bounded process of its own, which hands it over as
a `sheet`; `headings` finds what stands where, `cells_fast` reads cells that need no second look and `cells` those that do,
`tickets` puts it all together. A carrier's statement is read by `statement`, the answers on an Unknown sheet by `answers`.
"""
