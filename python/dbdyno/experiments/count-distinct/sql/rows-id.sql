SELECT id FROM distinct_values
