"""Two runs against each other, and many along the time: what the records allow to say, and what they do not."""
