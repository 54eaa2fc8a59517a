"""What earlier steps said, did and saw, kept so that a window can show the lines that the next action is likely to need."""
