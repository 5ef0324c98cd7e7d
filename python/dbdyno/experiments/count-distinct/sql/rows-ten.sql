SELECT ten FROM distinct_values
