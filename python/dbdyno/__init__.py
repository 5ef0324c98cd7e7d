"""dbdyno: put your database on the dyno."""
