"""Files in, one Table out.

`input_files` names the files, `child_process` has each opened by `bounded_child` in a bounded process of its own, which hands it over as
a `sheet`; `heading_rows` finds what stands where, `cells_fast` reads cells that need no second look and `cells` those that do,
`tickets` puts it all together. A carrier's statement is read by `statement`, the answers on an Unknown sheet by `unknown_answers`.
"""
