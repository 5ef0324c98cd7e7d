CREATE TABLE web_returns_copy AS TABLE web_returns
