"""What the output of a command says: a phrase for the index, and findings. One kind of output a file, all of them pure."""

from afresh.engine.extract.belief import learnt
from afresh.engine.extract.output import commanded
from afresh.engine.extract.read import purpose, read
from afresh.engine.extract.reading import Finding, Reading

__all__ = ["Finding", "Reading", "commanded", "learnt", "purpose", "read"]
