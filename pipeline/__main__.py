"""`python -m pipeline` is the console script `voucher`."""

from pipeline.cli.main import main

if __name__ == "__main__":
    main()
