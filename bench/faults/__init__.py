"""One fault a file, each beside a twin in which the protection is broken; `bench/reliability.py` counts them all."""
