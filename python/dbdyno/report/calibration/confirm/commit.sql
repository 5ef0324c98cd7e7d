UPDATE counters SET commits = commits + 1 WHERE client = :client_id;
