"""Changes that lower the complexity of Python functions and keep their behaviour."""
