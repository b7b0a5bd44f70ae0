"""Array libraries behind one protocol (protocol.py): describe, allocate and move their arrays."""
