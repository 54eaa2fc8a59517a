"""Instructions of people, from the files that they keep them in."""
