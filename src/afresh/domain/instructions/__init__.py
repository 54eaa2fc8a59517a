"""Instructions of people: files taken apart into rules and sections, and laid over each other."""

from afresh.domain.instructions.merge import InstructionChain, OverruledPart, merge_instructions
from afresh.domain.instructions.source import RULES_KEY, InstructionLevel, NumberedLine, InstructionPart, InstructionFile
from afresh.domain.instructions.split import part_from_rule, split_into_parts

__all__ = [
    "RULES_KEY",
    "InstructionChain",
    "InstructionLevel",
    "NumberedLine",
    "OverruledPart",
    "InstructionPart",
    "InstructionFile",
    "merge_instructions",
    "part_from_rule",
    "split_into_parts",
]
