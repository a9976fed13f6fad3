"""Values that the parts hand to each other: columns, tables, jobs, requests, evidence. No files, sockets or databases."""
