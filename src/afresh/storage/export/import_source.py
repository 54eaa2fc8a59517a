"""What is imported: an export, or a copy that was written by itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from afresh.core.event import JournalEntry
from afresh.core.fact import NOTEBOOK_JOURNAL
from afresh.errors import TryAgain
from afresh.storage.export.copy_files import ORDER_FILE
from afresh.storage.export.manifest import NOTEBOOK_FILE, QUEUE_FILE, ExportedTaskRow, ExportManifest, read_manifest
from afresh.storage.export.read_copy import count_unused_lines, read_copied_entries, read_copied_manifest, read_copied_task
from afresh.storage.export.read_export import ExportedTask, read_notebook, read_task


@dataclass(frozen=True, slots=True)
class ImportSource:
    """An export, or a copy that was written by itself."""

    folder: Path
    manifest: ExportManifest
    copied: bool

    def read_task(self, row: ExportedTaskRow) -> ExportedTask:
        if not self.copied:
            return read_task(self.folder, row)
        found = read_copied_task(self.folder, row.id, row.number)
        if not found or found.row.journal.entries < row.journal.entries:
            raise TryAgain(f"{self.folder} changed during the import; nothing was imported; try again")
        return found

    def count_unused_lines(self) -> Mapping[str, int]:
        """By task; of an export every line counts, or it is refused."""
        return count_unused_lines(self.folder, self.manifest) if self.copied else {}

    def read_notebook(self) -> tuple[JournalEntry, ...]:
        if not self.copied:
            return read_notebook(self.folder, self.manifest)
        return tuple(read_copied_entries(self.folder / NOTEBOOK_FILE, NOTEBOOK_JOURNAL))


def open_import_source(folder: Path) -> ImportSource:
    copied = is_copy(folder)
    return ImportSource(folder, read_copied_manifest(folder) if copied else read_manifest(folder), copied)


def is_copy(folder: Path) -> bool:
    return not (folder / QUEUE_FILE).exists() and (folder / ORDER_FILE).is_file()
