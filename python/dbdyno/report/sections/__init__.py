"""The sections of the report on a terminal, each empty where there is nothing to say."""
