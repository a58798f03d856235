"""holdfast: decisions that hold."""
