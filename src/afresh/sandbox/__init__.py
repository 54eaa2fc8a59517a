"""Where commands run: bubblewrap, then Landlock with seccomp, then nothing at all (only when the user says so)."""
