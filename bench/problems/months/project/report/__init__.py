"""Monthly reports of a till."""
