-- What a database has to be, before a ledger is made in it.

DO $$
BEGIN
    IF current_setting('server_encoding') <> 'UTF8' THEN
        RAISE EXCEPTION 'its encoding is %, not UTF8', current_setting('server_encoding') USING ERRCODE = 'VP011';
    END IF;
END $$;
