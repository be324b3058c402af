"""Emulators of the readers' protocols, and the simulated table."""
