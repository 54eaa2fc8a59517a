"""What people and tasks say to each other: questions, answers, permissions, conversations."""
