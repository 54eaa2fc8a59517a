"""Which command runs a project's tests: found in the project's own files, and tried before it is believed."""
