"""What is read off the machine: its parts, its storage, its clocks."""
