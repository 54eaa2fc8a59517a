"""Calls to models: the one entry point, retries, keys, mailbox and the offline policy."""
