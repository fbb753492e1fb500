"""GitHub: events, artifacts, comments, check runs, workflow commands. One file names PyGithub; everything else sees plain frozen types."""
