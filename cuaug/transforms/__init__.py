"""Transforms as objects: random per sample, composed into as few passes over the images as possible."""
