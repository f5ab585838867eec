-- Of a file that has other bytes, only the parts that differ are marked: an export of ten thousand records in which one was
-- edited leaves the others alone.

\schema items_in
