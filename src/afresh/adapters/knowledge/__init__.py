"""Knowledge objects and skills as files of the repository."""
