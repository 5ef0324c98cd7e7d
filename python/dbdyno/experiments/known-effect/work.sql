SELECT digest(:rounds);
