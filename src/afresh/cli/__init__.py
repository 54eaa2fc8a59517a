"""The command line: small commands share a file by topic; `main.py` lists them."""
