"""What a run shows: trace, operations, software crypto, profile by symbol."""
