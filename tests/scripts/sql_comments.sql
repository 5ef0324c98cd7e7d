-- dropped; before a command
/* kept; with /* its nested; */ part */ SELECT 1 -- inside; a command
  , 2 /* also; here */ ;
-- between; commands
SELECT 3; -- behind; a command
SELECT 4 /* ** */;
SELECT 5 - -1, 6 -/* 7 */2;
-- at the end
