-- How many names are remembered for their tokens.
SELECT count(*) FROM names;
