"""The brain's SQLite file: models, the connection, readers, and the one writer.

`connection` opens and never creates; `schema` says what may be written; `models` are the tables for what a person
looks at, `sql` the named set-based statements for the whole brain; `readers` turn rows into domain records;
`own` keeps our tables; `backup` and `watch` look after the file itself.
"""
