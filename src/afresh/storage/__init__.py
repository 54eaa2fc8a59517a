"""Keeps data on disk: SQLite behind the `Storage` port, lesson files, exports."""
