SELECT count(*) FROM web_returns
