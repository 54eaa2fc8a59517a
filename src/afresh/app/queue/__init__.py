"""The queue: turns, holds, retries."""
