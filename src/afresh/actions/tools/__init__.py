"""The tools that a model may call, one file each; `registry.py` lists them."""
