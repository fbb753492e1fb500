"""Likeness of texts under a small local embedding model; nothing is downloaded, and no network is used."""
