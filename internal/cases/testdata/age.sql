-- Makes every name look idle for two days.
UPDATE names SET used = used - 48;
