"""Instructions of people, from the files that they keep them in."""

from afresh.adapters.instructions.files import FoundInstructions, InstructionFiles, instructions_for_project

__all__ = ["FoundInstructions", "InstructionFiles", "instructions_for_project"]
