"""Writes the recorded cases that `engine verify` replays."""
