CREATE TRIGGER trabajos_no_insert BEFORE INSERT ON trabajos BEGIN
    SELECT RAISE(ABORT, 'cola-ia se hizo cargo de esta base; usa «cola-ia add» · cola-ia took this database over; use "cola-ia add"');
END;
CREATE TRIGGER trabajos_no_update BEFORE UPDATE ON trabajos BEGIN
    SELECT RAISE(ABORT, 'cola-ia se hizo cargo de esta base; usa «cola-ia add» · cola-ia took this database over; use "cola-ia add"');
END;
CREATE TRIGGER trabajos_no_delete BEFORE DELETE ON trabajos BEGIN
    SELECT RAISE(ABORT, 'cola-ia se hizo cargo de esta base; usa «cola-ia add» · cola-ia took this database over; use "cola-ia add"');
END;
