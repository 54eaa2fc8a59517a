"""What the output of a command says: a phrase for the index, and findings. One kind of output a file, all of them pure."""

from afresh.engine.extract.belief import facts_from_reading
from afresh.engine.extract.output import command_from_output
from afresh.engine.extract.read import purpose_from_command, read_output
from afresh.engine.extract.reading import OutputFinding, OutputReading

__all__ = ["OutputFinding", "OutputReading", "command_from_output", "facts_from_reading", "purpose_from_command", "read_output"]
