"""Templates from YAML files: checked, inherited, and laid over each other; nearer wins."""

from afresh.adapters.templates.fault import Fault
from afresh.adapters.templates.make import call_template, faults_of, make, merged_type, template, types
from afresh.adapters.templates.merge import Merged, merge
from afresh.adapters.templates.shelf import SHIPPED, Layer, Shelf, shelf_for

__all__ = [
    "SHIPPED", "Fault", "Layer", "Merged", "Shelf", "call_template", "faults_of",
    "make", "merge", "merged_type", "shelf_for", "template", "types",
]  # fmt: skip
