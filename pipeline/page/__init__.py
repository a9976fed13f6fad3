"""The page (`voucher serve`): months uploaded, corrected, approved, sent and downloaded in a browser.

Nothing about vouchers is decided here: what a month comes to is the flows' of `pipeline.run`, in processes of their own.
"""
