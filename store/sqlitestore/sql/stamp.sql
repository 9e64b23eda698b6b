-- Marks the file as ours ("Hold") and says its format.
PRAGMA application_id = 1215261796;
PRAGMA user_version = 1;
