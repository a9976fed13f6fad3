"""Files in, one Table out.

`inputs` names the files, `opening` has each opened by `child` in a bounded process of its own, which hands it over as
a `sheet`; `headings` finds what stands where, `plainly` reads cells that need no second look and `cells` those that do,
`tables` puts it all together.
"""
