"""Confines commands: bubblewrap, or Landlock with seccomp; none only if the user asks for it."""
