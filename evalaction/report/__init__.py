"""What people read: one view of a verdict, and its renderings as Markdown, terminal text, JUnit XML and JSON."""
