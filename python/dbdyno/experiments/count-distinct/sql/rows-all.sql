SELECT id, ten, wide FROM distinct_values
