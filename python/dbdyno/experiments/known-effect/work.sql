SELECT burn(:rounds);
