"""Carries out the actions of a reply: permission, tools, delegation, and the digest of their outputs into facts."""
