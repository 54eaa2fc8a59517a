"""Makes space: strategies for one prompt, and the dropping of old passages from memory."""
