"""Results of tasks: shown, merged, taken back, given away."""
