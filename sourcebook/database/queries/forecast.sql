-- name: record_stage_run
-- Insert the work and the seconds of one stage.
INSERT INTO stage_run (machine, stage, kind, work, seconds)
VALUES (%(machine)s, %(stage)s, %(kind)s, %(work)s, %(seconds)s);

-- name: stage_runs
-- Return work and seconds of the newest runs of every stage on a machine.
SELECT stage, kind, work, seconds
FROM (
    SELECT stage, kind, work, seconds, row_number() OVER (PARTITION BY stage, kind ORDER BY id DESC) AS place
    FROM stage_run WHERE machine = %(machine)s
) newest
WHERE place <= %(most)s;

-- name: forget_stage_runs
-- Delete all but the newest runs of each stage.
DELETE FROM stage_run USING (
    SELECT id, row_number() OVER (PARTITION BY machine, stage, kind ORDER BY id DESC) AS place FROM stage_run
) old
WHERE stage_run.id = old.id AND old.place > %(most)s;
