"""Files in, one Table out.

`inputs` names the files, `child` opens each in a bounded process of its own, `headings` finds what
stands where, `cells` reads single values, `tables` puts it all together.
"""
