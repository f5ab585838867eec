-- Count the sound that is transcribed, and the processor time that it takes.
ALTER TABLE usage ADD COLUMN sound_seconds double precision NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN processor_seconds double precision;
