SELECT wide FROM distinct_values
