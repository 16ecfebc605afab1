"""What a run will cost in time and memory: the types and their sums. What one method costs is told by that method."""
