"""What the output of a command says: a phrase for the index, and findings. One kind of output a file, all of them pure."""

from afresh.engine.extract.read import commanded, learnt, purpose, read
from afresh.engine.extract.reading import Finding, Reading

__all__ = ["Finding", "Reading", "commanded", "learnt", "purpose", "read"]
