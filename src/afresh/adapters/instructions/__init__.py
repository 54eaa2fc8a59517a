"""Instructions of people, from the files that they keep them in."""

from afresh.adapters.instructions.files import Found, InstructionFiles, instructions_for

__all__ = ["Found", "InstructionFiles", "instructions_for"]
