"""Templates from YAML files: checked, inherited, and laid over each other; nearer wins."""

from afresh.adapters.templates.fault import FileFault
from afresh.adapters.templates.make import (
    load_call_template,
    find_template_faults,
    make_template,
    merge_task_type,
    load_template,
    list_task_types,
)
from afresh.adapters.templates.merge import MergedTemplate, merge_template
from afresh.adapters.templates.shelf import SHIPPED_LAYERS, TemplateLayer, TemplateLayers, layers_for_project

__all__ = [
    "SHIPPED_LAYERS", "FileFault", "TemplateLayer", "MergedTemplate", "TemplateLayers", "load_call_template", "find_template_faults",
    "make_template", "merge_template", "merge_task_type", "layers_for_project", "load_template", "list_task_types",
]  # fmt: skip
